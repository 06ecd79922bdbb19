import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { promisify } from "node:util";
import type { AppLogin } from "@sheaf/sheaf/server";

// Accounts with a name and a password, in one file. An app that has accounts
// already puts its own check here, or takes JSON Web Tokens (`login: { jwt }`).

interface Account {
  readonly salt: string;
  readonly hash: string;
}

const hashOf = promisify<string, Buffer, number, Buffer>(scrypt);

/** Judges what the sign-in form sends. */
export function openAccounts(path: string): AppLogin {
  const accounts = new Map<string, Account>(
    existsSync(path)
      ? Object.entries(JSON.parse(readFileSync(path, "utf8")))
      : [],
  );

  function keep(user: string, account: Account): void {
    accounts.set(user, account);
    const text = JSON.stringify(Object.fromEntries(accounts), null, 2);
    writeFileSync(`${path}.new`, text, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }

  return async (shown) => {
    const { user, password, isNew } = Object(shown) as Record<string, unknown>;
    if (typeof user !== "string" || !/^[a-z][a-z0-9-]{1,30}$/.test(user)) {
      return { refused: "A name has 2 to 31 small letters, digits and dashes" };
    }
    if (
      typeof password !== "string" || password.length < 8 ||
      password.length > 200
    ) {
      return { refused: "A password has 8 to 200 characters" };
    }
    const known = accounts.get(user);
    if (isNew === true && known) return { refused: "This name is taken" };
    const salt = known ? Buffer.from(known.salt, "hex") : randomBytes(16);
    const hash = await hashOf(password, salt, 32);
    if (known) {
      const isRight = timingSafeEqual(hash, Buffer.from(known.hash, "hex"));
      return isRight ? { user } : { refused: "Name or password is wrong" };
    }
    if (isNew !== true) return { refused: "Name or password is wrong" };
    if (accounts.has(user)) return { refused: "This name is taken" };
    keep(user, { salt: salt.toString("hex"), hash: hash.toString("hex") });
    return { user };
  };
}
