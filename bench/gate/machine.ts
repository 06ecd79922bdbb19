/**
 * What a baseline calls the machine it is from: the processor by what it says
 * of itself, and how many cores of it.
 *
 * Virtual machines hide the processor's name (`unknown`) or give several
 * generations one (`AMD EPYC`); maker, family and model they tell, and ratios
 * go by these.
 *
 * @module
 */

/** The name of this machine. */
export function machineName(): string {
  const { os, arch } = Deno.build;
  const processor = os === "linux"
    ? processorIn(Deno.readTextFileSync("/proc/cpuinfo"))
    : undefined;
  return `${
    processor ?? `${os} ${arch}`
  }, ${navigator.hardwareConcurrency} cores`;
}

/** The first processor in the text of /proc/cpuinfo; `undefined` where it says nothing of itself. */
export function processorIn(cpuinfo: string): string | undefined {
  const valueOf = (name: string): string | undefined => {
    const line = new RegExp(`^${name}[ \t]*:[ \t]*(.+)$`, "m").exec(cpuinfo);
    const value = line?.[1]?.trim();
    return value === "unknown" || value === "" ? undefined : value;
  };
  const kind = [
    ["family", valueOf("cpu family")],
    ["model", valueOf("model")],
    ["part", valueOf("CPU part")],
  ].flatMap(([word, value]) => value === undefined ? [] : [`${word} ${value}`])
    .join(" ");
  const maker = valueOf("vendor_id") ?? valueOf("CPU implementer");
  const parts = [maker, kind].filter((part) =>
    part !== undefined && part !== ""
  );
  return parts.length === 0 ? valueOf("model name") : parts.join(" ");
}
