// Flamenco 3 job type: what Steer's batches make, and pictures of it as soon as each bake is there.
// `steer submit JOB.toml --to flamenco` writes it beside a submission that names the tasks.

const JOB_TYPE = {
    label: "Steer Crowd",
    description: "Bakes variations of a crowd, and renders each as soon as it is baked. " +
        "Rendering needs Blender only.",
    settings: [
        { key: "tasks", type: "string", required: true, visible: "hidden",
            description: "The tasks, as JSON" },
        { key: "steer", type: "string", required: true, default: "steer", visible: "submission",
            description: "Steer's command on the workers, where bakes are missing" },
    ],
};

function compileJob(job) {
    const made = {};
    for (const row of JSON.parse(job.settings.tasks)) {
        const task = row.steer
            ? author.Task(row.name, "misc")
            : author.Task(row.name, "blender");
        task.addCommand(row.steer
            ? author.Command("exec", { exe: job.settings.steer, args: row.steer })
            : author.Command("blender-render", {
                exe: "{blender}",
                exeArgs: "{blenderArgs}",
                argsBefore: [],
                blendfile: row.blendfile,
                args: row.blender,
            }));
        for (const need of row.needs) {
            if (made[need]) {
                task.addDependency(made[need]);
            }
        }
        made[row.name] = task;
        job.addTask(task);
    }
}
