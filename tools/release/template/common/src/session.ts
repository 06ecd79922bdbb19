// Who uses this page, and when they must be asked for a password: the first time
// on a device, and when its session has ended. Until then they work offline.

export interface Credentials {
  readonly user: string;
  readonly password: string;
  readonly isNew: boolean;
}

export interface SessionState {
  /** Who uses this page; `undefined` before the first sign-in. */
  readonly user: string | undefined;
  /** Does the server wait for a password? */
  readonly isAsked: boolean;
  /** Why the last one was not taken. */
  readonly error: string | undefined;
}

let state: SessionState = {
  user: localStorage.getItem("user") ?? undefined,
  isAsked: false,
  error: undefined,
};
let typed: Credentials | undefined;
let answer: ((credentials: Credentials) => void) | undefined;
const listeners = new Set<() => void>();

function change(changes: Partial<SessionState>): void {
  state = { ...state, ...changes };
  for (const listener of listeners) listener();
}

/** What the sign-in form shows. */
export const session = {
  getSnapshot: () => state,
  subscribe(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

/** The form was sent. */
export function signIn(credentials: Credentials): void {
  localStorage.setItem("user", credentials.user);
  if (answer) answer(credentials);
  else typed = credentials;
  answer = undefined;
  change({ user: credentials.user, isAsked: false, error: undefined });
}

/** The data stay on this device, for when the user signs in again. */
export function signOut(): void {
  localStorage.removeItem("user");
  location.reload();
}

/** What the user typed, or types when the form is shown now. */
export function askCredentials(): Promise<Credentials> {
  const given = typed;
  typed = undefined;
  if (given) return Promise.resolve(given);
  change({ isAsked: true });
  return new Promise((resolve) => answer = resolve);
}

/** The server did not take what was typed. */
export function refuseCredentials(error: string): void {
  change({ isAsked: true, error });
}

/** Why there is nothing to see yet. */
export function say(error: string | undefined): void {
  change({ error });
}
