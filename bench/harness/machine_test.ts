import { equal, match } from "node:assert/strict";
import { fileSystemIn, warningOf } from "./machine.ts";

const mounts = [
  "/dev/vda / ext4 rw 0 0",
  "tmpfs /tmp tmpfs rw 0 0",
  "/dev/vdb /tmp/disk xfs rw 0 0",
].join("\n");

Deno.test("fileSystemIn() finds the innermost mount", () => {
  equal(fileSystemIn(mounts, "/home/ada"), "ext4");
  equal(fileSystemIn(mounts, "/tmp/bench"), "tmpfs");
  equal(fileSystemIn(mounts, "/tmp/disk/bench"), "xfs");
  equal(fileSystemIn(mounts, "/tmpfoo"), "ext4");
  equal(fileSystemIn("", "/home"), undefined);
});

Deno.test("warningOf() speaks up where syncing means nothing", () => {
  const machine = {
    os: "linux",
    cpu: "x",
    cores: 2,
    memoryGiB: 8,
    fileSystem: "ext4",
    fdatasyncMicros: 100,
  };
  equal(warningOf(machine), undefined);
  match(warningOf({ ...machine, fileSystem: "tmpfs" }) ?? "", /--dir/);
});
