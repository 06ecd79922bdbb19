/**
 * Installs the databases that stand beside Sheaf, with the versions of
 * `package.json`, into the ignored `.data` folder: the project itself does not
 * depend on them.
 *
 * All are installed at once; when that fails, each alone is tried, and those
 * that cannot be had are left out with a line that says why, so that one bad
 * package takes no other with it. What was installed is remembered: the second
 * time costs a read of two small files. Install scripts never run: native
 * packages bring prebuilt binaries, or their `load` says that they did not.
 *
 * Two lines of the manifest need a word. `rxdb-old` is RxDB itself: the
 * storage on Deno KV of 17.6.0 imports one constant under that name, which its
 * authors have on their machines only. `msgpackr-extract`, of LMDB, stays at
 * the release before its last, which not every mirror has whole.
 *
 * `pages.json` names those that only `deno task size --rivals` weighs: they bring
 * servers and mobile apps along, 350 MB that no bench is to wait for. Jazz's native
 * cores, which no page has and not every mirror, are its core in wasm there.
 *
 * @module
 */

const root = new URL("../../", import.meta.url);
const manifest = new URL("package.json", import.meta.url);
/** In whose `node_modules` the peers are. */
const peersFolder = new URL(".data/bench-peers/", root);
const pagesManifest = new URL("pages.json", import.meta.url);
const pagesFolder = new URL(".data/bench-pages/", root);
/** Beside the packages: the manifest that was installed, and what could not be. */
const recordName = "installed.json";
/** A registry that does not answer must not hold up the bench. */
const installMsMax = 120_000;
const lineLength = 200;

/** What an install left: where it is, and who is missing, why. */
export interface Peers {
  readonly folder: string;
  /** One line a package that did not install. */
  readonly missing: Readonly<Record<string, string>>;
}

/** A manifest of npm, as far as it is asked here. */
interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly overrides?: Readonly<Record<string, string>>;
}

/** Installs packages and says what went wrong, if anything. */
export type Install = (
  folder: URL,
  manifest: Manifest,
) => Promise<string | undefined>;

/** Installs the peers, or finds them there. Never fails for a package; `say` hears one line for each that is missing. */
export async function installPeers(
  say: (line: string) => void = () => {},
  folder = peersFolder,
  install: Install = installWithDeno,
  from = manifest,
): Promise<Peers> {
  const wanted = Deno.readTextFileSync(from);
  const present = readRecord(folder);
  const missing = present?.manifest === wanted &&
      Object.keys(present.missing).length === 0
    ? present.missing
    : await installAll(folder, JSON.parse(wanted), install);
  for (const [name, why] of Object.entries(missing)) {
    say(`${name} is not here: ${why}`);
  }
  writeRecord(folder, { manifest: wanted, missing });
  return { folder: pathOf(folder), missing };
}

/** As {@linkcode installPeers}, of those that are only weighed. */
export function installPages(): Promise<Peers> {
  return installPeers(undefined, pagesFolder, undefined, pagesManifest);
}

/** Why a package was left out of `folder`, if it was. */
export function missingPeer(folder: string, name: string): string | undefined {
  return readRecord(folder)?.missing[name];
}

/** What was asked for, as tables name it: `dexie 4.4.7`. */
export function peerVersions(names?: readonly string[]): string[] {
  const all = [manifest, pagesManifest].flatMap((path) => {
    const { dependencies }: Manifest = JSON.parse(Deno.readTextFileSync(path));
    return Object.entries(dependencies);
  });
  return all
    .filter(([name, version]) =>
      !version.startsWith("npm:") && (names?.includes(name) ?? true)
    )
    .map(([name, version]) => `${name} ${version}`);
}

/** All at once, or else each that can be had. */
async function installAll(
  folder: URL,
  wanted: Manifest,
  install: Install,
): Promise<Record<string, string>> {
  if (await install(folder, wanted) === undefined) return {};
  const missing: Record<string, string> = {};
  const scratch = new URL("alone/", folder);
  for (const [name, version] of Object.entries(wanted.dependencies)) {
    const alone = { ...wanted, dependencies: { [name]: version } };
    const why = await install(scratch, alone);
    removeFolder(scratch);
    if (why !== undefined) missing[name] = why;
  }
  const rest = Object.fromEntries(
    Object.entries(wanted.dependencies).filter(([name]) =>
      missing[name] === undefined
    ),
  );
  const why = await install(folder, { ...wanted, dependencies: rest });
  if (why === undefined) return missing;
  for (const name of Object.keys(rest)) missing[name] = why;
  return missing;
}

/** `deno install` in `folder`: what it complained of, if it failed. */
async function installWithDeno(
  folder: URL,
  wanted: Manifest,
): Promise<string | undefined> {
  Deno.mkdirSync(folder, { recursive: true });
  const text = JSON.stringify({ private: true, type: "module", ...wanted });
  Deno.writeTextFileSync(new URL("package.json", folder), text);
  // A configuration of its own, or the project's would be found and changed.
  const config = JSON.stringify({ nodeModulesDir: "manual", lock: false });
  Deno.writeTextFileSync(new URL("deno.json", folder), config);
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["install", "--quiet"],
    cwd: folder,
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "null",
    signal: AbortSignal.timeout(installMsMax),
  }).output();
  return success ? undefined : complaintOf(new TextDecoder().decode(stderr));
}

/** The line that says most: the one with the error. */
export function complaintOf(text: string): string {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  const line = lines.find((line) => /^error\b/i.test(line)) ?? lines.at(-1);
  return (line ?? "it did not install").slice(0, lineLength);
}

interface Installed {
  readonly manifest: string;
  readonly missing: Readonly<Record<string, string>>;
}

function readRecord(folder: URL | string): Installed | undefined {
  const base = typeof folder === "string"
    ? new URL(`file://${folder}/`)
    : folder;
  try {
    return JSON.parse(Deno.readTextFileSync(new URL(recordName, base)));
  } catch (error) {
    // Torn by a kill, or never there: both mean to install again.
    if (error instanceof Deno.errors.NotFound) return undefined;
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function writeRecord(folder: URL, record: Installed): void {
  Deno.mkdirSync(folder, { recursive: true });
  Deno.writeTextFileSync(new URL(recordName, folder), JSON.stringify(record));
}

function removeFolder(folder: URL): void {
  try {
    Deno.removeSync(folder, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function pathOf(folder: URL): string {
  return decodeURIComponent(folder.pathname);
}
