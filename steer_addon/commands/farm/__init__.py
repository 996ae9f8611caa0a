"""The commands of batches: what a job file asks for, run here or written for farms."""
