import {
  DatabaseProvider,
  useDatabase,
  useQuery,
  useRepository,
  useStore,
  useSync,
} from "@sheaf/sheaf/__FRAMEWORK__";
import type { Repository } from "@sheaf/sheaf/browser";
import { open } from "./database.ts";
import { Member, Todo } from "./schema.ts";
import { session, signIn, signOut } from "./session.ts";

export function App() {
  const { data: who } = useStore(session);
  const user = who?.user;
  if (user === undefined) return <SignIn />;
  return (
    <DatabaseProvider
      name={user}
      open={() => open(user)}
      fallback={<Opening />}
    >
      <List />
    </DatabaseProvider>
  );
}

function Opening() {
  const { data: who } = useStore(session);
  return <p className="notice">{who?.error ?? "Opening …"}</p>;
}

/** The list whose owner the address names, as in `#ann`; the user's own without. */
function List() {
  const db = useDatabase();
  const owner = location.hash.slice(1) || db.user;
  const { data: list } = useRepository(db, `list/${owner}`);
  const todos = list?.collection(Todo);
  const { data: rows = [] } = useQuery(todos?.orderBy("createdAt"));
  const add = (event: Submitted) => {
    const { title } = fieldsOf(event);
    if (title) todos?.create({ title, createdAt: new Date() });
  };
  return (
    <main>
      <header>
        <h1>{owner === db.user ? "Your list" : `${owner}’s list`}</h1>
        <Status list={list} />
        <button onClick={signOut}>Sign out</button>
      </header>
      <SignInAgain />
      <ul>
        {rows.map(({ id, title, done }) => (
          <li key={id}>
            <label>
              <input
                type="checkbox"
                checked={done}
                onChange={() => todos?.update(id, { done: !done })}
              />
              {title}
            </label>
            <button
              aria-label={`Delete ${title}`}
              onClick={() => todos?.delete(id)}
            >
              ×
            </button>
          </li>
        ))}
      </ul>
      <form onSubmit={add}>
        <input
          name="title"
          placeholder="What is to be done?"
          aria-label="Title"
          autoComplete="off"
        />
        <button>Add</button>
      </form>
      {owner === db.user && <Members list={list} />}
    </main>
  );
}

/** Is everything with the server, and what did it not take? */
function Status({ list }: { list: Repository | undefined }) {
  const { data: sync } = useSync(list);
  if (!sync) return null;
  const waiting = sync.unsent.commits;
  const words = waiting > 0
    ? `${waiting} to send`
    : sync.state === "live"
    ? "Saved"
    : "Offline";
  return (
    <>
      <span role="status">
        {sync.reason?.code === "forbidden"
          ? "You are not a member of this list"
          : words}
      </span>
      {sync.refusals.map((refused) => (
        <p className="notice" key={refused.commit}>
          {refused.detail || "Refused"}{" "}
          <button
            onClick={() =>
              refused.discard()}
          >
            OK
          </button>
        </p>
      ))}
    </>
  );
}

/** Who else may use the list. */
function Members({ list }: { list: Repository | undefined }) {
  const members = list?.collection(Member);
  const { data: rows = [] } = useQuery(members?.query());
  const invite = (event: Submitted) => {
    const { user, role } = fieldsOf(event);
    if (user && role) members?.upsert({ id: user, role });
  };
  return (
    <details>
      <summary>
        Shared with {rows.length === 0
          ? "nobody"
          : rows.map(({ id, role }) => `${id} (${role})`).join(", ")}
      </summary>
      {rows.map(({ id }) => (
        <button
          key={id}
          onClick={() => members?.delete(id)}
        >
          Remove {id}
        </button>
      ))}
      <form onSubmit={invite}>
        <input
          name="user"
          placeholder="User"
          aria-label="User"
          autoComplete="off"
        />
        <select name="role" aria-label="Role">
          <option>writer</option>
          <option>reader</option>
        </select>
        <button>Share</button>
      </form>
    </details>
  );
}

/** The session has ended, or the password was wrong; work goes on meanwhile. */
function SignInAgain() {
  const { data: who } = useStore(session);
  return who?.isAsked ? <SignIn /> : null;
}

function SignIn() {
  const { data: who } = useStore(session);
  const submit = (event: Submitted) => {
    const { user = "", password = "", isNew } = fieldsOf(event);
    signIn({ user: who?.user ?? user, password, isNew: isNew === "on" });
  };
  return (
    <form className="sign-in" onSubmit={submit}>
      {who?.error && <p className="notice" role="alert">{who.error}</p>}
      {who?.user ? <p>{who.user}</p> : (
        <input
          name="user"
          placeholder="Name"
          aria-label="Name"
          autoComplete="username"
          required
        />
      )}
      <input
        name="password"
        type="password"
        placeholder="Password"
        aria-label="Password"
        autoComplete="current-password"
        required
      />
      <label>
        <input name="isNew" type="checkbox" /> I am new here
      </label>
      <button>Sign in</button>
    </form>
  );
}

interface Submitted {
  preventDefault(): void;
  readonly currentTarget: EventTarget;
}

/** What stands in a form that was sent; empties it. */
function fieldsOf(event: Submitted): Record<string, string> {
  event.preventDefault();
  const form = event.currentTarget as HTMLFormElement;
  const fields = Object.fromEntries(new FormData(form)) as Record<
    string,
    string
  >;
  form.reset();
  return fields;
}
