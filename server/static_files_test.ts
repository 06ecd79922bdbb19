import { equal, rejects } from "node:assert/strict";
import { StaticFiles } from "./static_files.ts";

async function withFiles(
  work: (files: StaticFiles, folder: string) => Promise<void>,
): Promise<void> {
  const path = await Deno.realPath(await Deno.makeTempDir());
  try {
    const folder = `${path}/app`;
    await Deno.mkdir(`${folder}/deep`, { recursive: true });
    await Deno.writeTextFile(`${path}/secret.txt`, "secret");
    await Deno.writeTextFile(`${folder}/index.html`, "<p>hello");
    await Deno.writeTextFile(`${folder}/deep/a b.js`, "1");
    await Deno.writeTextFile(`${folder}/.env`, "secret");
    await Deno.symlink(`${path}/secret.txt`, `${folder}/link.txt`);
    await work(new StaticFiles(folder), folder);
  } finally {
    await Deno.remove(path, { recursive: true });
  }
}

const get = (path: string, init?: RequestInit) =>
  new Request(`http://127.0.0.1${path}`, init);

const answer = (files: StaticFiles, request: Request) =>
  files.answer(request, new URL(request.url).pathname);

Deno.test("StaticFiles answers with content, type and a tag that saves the next answer", () =>
  withFiles(async (files) => {
    const page = (await answer(files, get("/")))!;
    equal(await page.text(), "<p>hello");
    equal(page.headers.get("content-type"), "text/html; charset=utf-8");
    equal(page.headers.get("x-content-type-options"), "nosniff");
    equal(page.headers.get("x-frame-options"), "SAMEORIGIN");
    const policy = page.headers.get("content-security-policy")!.split("; ");
    for (const one of ["script-src", "frame-ancestors", "base-uri"]) {
      equal(policy.includes(`${one} 'self'`), true);
    }
    const tag = page.headers.get("etag")!;
    const headers = { "if-none-match": tag };
    const again = (await answer(files, get("/index.html", { headers })))!;
    equal(again.status, 304);
    const script = (await answer(files, get("/deep/a%20b.js")))!;
    equal(script.headers.get("content-type"), "text/javascript; charset=utf-8");
    equal(await script.text(), "1");
    const head = (await answer(files, get("/", { method: "HEAD" })))!;
    equal(head.headers.get("content-length"), "8");
    equal(await head.text(), "");
  }));

Deno.test("StaticFiles gives the policy that it is given, with each answer", () =>
  withFiles(async (_, folder) => {
    const files = new StaticFiles(folder, "script-src 'none'");
    const policyOf = async (init?: RequestInit) =>
      (await answer(files, get("/", init)))!.headers.get(
        "content-security-policy",
      );
    equal(await policyOf(), "script-src 'none'");
    equal(await policyOf({ method: "HEAD" }), "script-src 'none'");
  }));

Deno.test("StaticFiles.checkApart() refuses what lies in the folder, or will", () =>
  withFiles(async (files, folder) => {
    const code = "invalid-option";
    const apart = [`${folder}/../data`, `${folder}-not/yet/there`];
    for (const path of apart) await files.checkApart(path);
    const within = [
      folder,
      `${folder}/deep`,
      `${folder}/not/yet`,
      `${folder}/..`,
    ];
    for (const path of within) await rejects(files.checkApart(path), { code });
    await Deno.symlink(folder, `${folder}-link`);
    await rejects(files.checkApart(`${folder}-link/backup`), { code });
  }));

Deno.test("StaticFiles never leaves its folder", () =>
  withFiles(async (files) => {
    const paths = [
      "/../secret.txt",
      "/%2e%2e/secret.txt",
      "/%2e%2e%2fsecret.txt",
      "/deep/..%2f..%2fsecret.txt",
      "/deep/%2e%2e/%2e%2e/secret.txt",
      "/..%5csecret.txt",
      "/link.txt",
      "/.env",
      "/%00",
      "/index.html%00.js",
      "/%ff",
      "/deep",
      "/missing.js",
      "/index.html/x",
    ];
    for (const path of paths) {
      equal(await answer(files, get(path)), undefined, path);
    }
  }));

Deno.test("StaticFiles takes a link that leads to itself for a file that is missing", () =>
  withFiles(async (files, folder) => {
    await Deno.symlink(`${folder}/loop.txt`, `${folder}/loop.txt`);
    equal(await answer(files, get("/loop.txt")), undefined);
  }));
