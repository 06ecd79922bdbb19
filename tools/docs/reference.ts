/**
 * The reference of the public API: what each entry point exports, with its
 * declaration and what its comment says, from the declarations of the package.
 *
 * @module
 */

import ts from "typescript";
import { outputName } from "../browser/built.ts";
import { writeDeclarations } from "../release/declarations.ts";
import { config } from "../release/manifest.ts";

/** Something that an entry point exports. */
export interface Exported {
  readonly name: string;
  /** What its comment says, as Markdown. */
  readonly comment: string;
  /** Its declaration, with the comments of its members. */
  readonly declaration: string;
}

/** An entry point. */
export interface Entry {
  /** As it is imported: `@sheaf/sheaf/kv`. */
  readonly specifier: string;
  /** Name of its page, without ending. */
  readonly page: string;
  /** What the comment of its module says, as Markdown. */
  readonly comment: string;
  readonly exported: readonly Exported[];
}

/** Reads all entry points. */
export async function readReference(): Promise<Entry[]> {
  const folder = Deno.makeTempDirSync({ prefix: "sheaf-docs-" });
  try {
    await writeDeclarations(folder);
    const files = Object.keys(config.exports).map((subpath) => ({
      subpath,
      file: `${folder}/types/${outputName(subpath)}.d.ts`,
    }));
    const program = ts.createProgram(files.map(({ file }) => file), {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      noEmit: true,
    });
    const checker = program.getTypeChecker();
    return files.flatMap(({ subpath, file }) => {
      const source = program.getSourceFile(file)!;
      const symbol = checker.getSymbolAtLocation(source);
      const exported = symbol === undefined
        ? []
        : checker.getExportsOfModule(symbol).map((one) =>
          describe(checker, one)
        );
      if (exported.length === 0) return [];
      return [{
        specifier: `${config.name}${subpath.slice(1)}`,
        page: subpath === "." ? "sheaf" : subpath.slice(2).replace("/", "-"),
        comment: moduleComment(config.exports[subpath]!),
        exported: exported.sort((a, b) => a.name < b.name ? -1 : 1),
      }];
    });
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

function describe(checker: ts.TypeChecker, exported: ts.Symbol): Exported {
  const symbol = exported.flags & ts.SymbolFlags.Alias
    ? checker.getAliasedSymbol(exported)
    : exported;
  const declarations = (symbol.declarations ?? []).map((one) =>
    ts.isVariableDeclaration(one) ? one.parent.parent : one
  );
  const [first] = declarations;
  return {
    name: exported.name,
    comment: first === undefined ? "" : commentOf(first),
    declaration: declarations.map((one) =>
      one.getText().replace(/^(?:export )?(?:declare )?/, "")
    ).join("\n"),
  };
}

/** The comment in front of a declaration: its text, and its tags as a list. */
function commentOf(node: ts.Node): string {
  const range = ts.getLeadingCommentRanges(
    node.getSourceFile().text,
    node.getFullStart(),
  )?.at(-1);
  if (range === undefined) return "";
  return markdownOf(node.getSourceFile().text.slice(range.pos, range.end));
}

/** The first comment of a module, which speaks of all of it. */
function moduleComment(path: string): string {
  const source = new URL(`../../${path}`, import.meta.url);
  const [comment = ""] = /^\/\*\*[^]*?\*\//.exec(
    Deno.readTextFileSync(source),
  ) ?? [];
  return markdownOf(comment);
}

function markdownOf(comment: string): string {
  return comment.replace(/^\/\*\*|\*\/$/g, "").replace(/^\s*\* ?/gm, "")
    .replace(/@module\b.*/, "")
    .replace(/\{@linkcode (\S+?)\}/g, "`$1`")
    .replace(/^@example\b *(.*)/gm, "\n$1\n")
    .replace(/^@param (\S+) /gm, "\n- `$1`: ")
    .replace(/^@returns? /gm, "\n- gives ")
    .replace(/^@throws \{DatabaseError\} /gm, "\n- throws `DatabaseError`: ")
    .replace(/^@throws \{(\w+)\} /gm, "\n- throws `$1`: ")
    .replace(/^@(\w+) ?/gm, "\n- $1 ")
    .trim();
}
