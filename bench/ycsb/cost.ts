/**
 * What processes have used: CPU time and greatest memory, from `/proc`. Where
 * there is no such thing (not Linux), nothing is claimed.
 *
 * @module
 */

/** Units of `/proc/<id>/stat`: fixed at 100 for what user programs see. */
const ticksPerSecond = 100;

function textOf(path: string): string | undefined {
  if (Deno.build.os !== "linux") return undefined;
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    // It has ended, or it is somebody else's.
    if (error instanceof Deno.errors.NotFound) return undefined;
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}

/** User and system seconds in the text of `/proc/<id>/stat`. */
export function cpuSecondsIn(stat: string): number {
  // The name of the program stands in brackets and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Greatest resident memory in the text of `/proc/<id>/status`, in bytes. */
export function peakBytesIn(status: string): number {
  return Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) * 1_024;
}

function sumOf(
  processes: readonly number[],
  file: string,
  parse: (text: string) => number,
): number | undefined {
  let sum = 0;
  for (const id of processes) {
    const text = textOf(`/proc/${id}/${file}`);
    if (text === undefined) return undefined;
    sum += parse(text);
  }
  return Number.isFinite(sum) ? sum : undefined;
}

/** CPU seconds of these processes so far; `undefined` where nobody says. */
export function cpuSecondsOf(processes: readonly number[]): number | undefined {
  return sumOf(processes, "stat", cpuSecondsIn);
}

/** Greatest memory of these processes since {@linkcode forgetPeaks}, in bytes. */
export function peakBytesOf(processes: readonly number[]): number | undefined {
  return sumOf(processes, "status", peakBytesIn);
}

/** Lets the greatest memory be counted anew from now on: `proc(5)`, `clear_refs`. */
export function forgetPeaks(processes: readonly number[]): void {
  if (Deno.build.os !== "linux") return;
  for (const id of processes) {
    try {
      Deno.writeTextFileSync(`/proc/${id}/clear_refs`, "5");
    } catch {
      // A kernel without it, or a guarded process: the peak is since its start.
    }
  }
}
