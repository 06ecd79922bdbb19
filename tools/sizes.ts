/**
 * `deno task sizes`: lines of product code by room, and its longest files. They
 * inform and fail nothing: a file holds one idea, whole.
 *
 * @module
 */

const ROOMS = ["src", "repo", "sync", "crypto", "server"];
const LONGEST = 20;

interface Size {
  readonly path: string;
  readonly lines: number;
}

function* sizesIn(folder: string): Generator<Size> {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* sizesIn(path);
    else if (name.endsWith(".ts") && !name.endsWith("_test.ts")) {
      const lines = Deno.readTextFileSync(path).split("\n").length - 1;
      yield { path, lines };
    }
  }
}

function show(name: string, lines: number): void {
  console.log(`${name.padEnd(40)}${String(lines).padStart(8)}`);
}

const files = ROOMS.flatMap((room) => [...sizesIn(room)]);
const rooms = new Map<string, number>();
for (const { path, lines } of files) {
  const room = path.slice(0, path.lastIndexOf("/"));
  rooms.set(room, (rooms.get(room) ?? 0) + lines);
}
for (const [room, lines] of [...rooms].sort()) show(room, lines);
show("all", files.reduce((sum, { lines }) => sum + lines, 0));
console.log(`\nThe ${LONGEST} longest files\n`);
for (
  const { path, lines } of files.sort((a, b) => b.lines - a.lines)
    .slice(0, LONGEST)
) show(path, lines);
