"""How a behavior is declared, and what any behavior may use to perceive."""
