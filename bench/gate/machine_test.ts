import { equal, match } from "node:assert/strict";
import { machineName, processorIn } from "./machine.ts";

const cpuinfo = (fields: Readonly<Record<string, string>>): string =>
  Object.entries(fields).map(([name, value]) => `${name}\t: ${value}\n`).join(
    "",
  );

Deno.test("processorIn() names maker, family and model, also where the name is hidden", () => {
  const fields = {
    "processor": "0",
    "vendor_id": "AuthenticAMD",
    "cpu family": "26",
    "model": "2",
    "model name": "unknown",
  };
  equal(processorIn(cpuinfo(fields)), "AuthenticAMD family 26 model 2");
  equal(
    processorIn(cpuinfo({ ...fields, "model name": "AMD EPYC" })),
    "AuthenticAMD family 26 model 2",
  );
});

Deno.test("processorIn() takes what there is, and says nothing where nothing is said", () => {
  const arm = { "CPU implementer": "0x41", "CPU part": "0xd0c" };
  equal(processorIn(cpuinfo(arm)), "0x41 part 0xd0c");
  equal(processorIn(cpuinfo({ "model name": "Some CPU" })), "Some CPU");
  equal(processorIn(cpuinfo({ "model name": "unknown" })), undefined);
  equal(processorIn(""), undefined);
});

Deno.test("machineName() ends with the number of cores", () => {
  match(machineName(), /^.+, \d+ cores$/);
});
