/**
 * The page: who is here, then their boards.
 *
 * @module
 */

import { type JSX, render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { openTeam, type Team } from "../data/open.ts";
import { DirectoryProvider } from "../data/directory.tsx";
import { type Member, memberOf } from "../data/team.ts";
import { TeamContext } from "../data/team_context.ts";
import { SignIn } from "../panels/sign_in.tsx";
import { applyTheme } from "../state/theme.ts";
import { Mark } from "./icons.tsx";
import { followServiceWorker } from "./offline.ts";
import { Shell } from "./shell.tsx";

const PERSON = "stook.person";

/** Who this page is for: the address says it, or this tab, or this device remembers. */
function whoIsHere(): Member | undefined {
  const asked = new URLSearchParams(location.search).get("as");
  return memberOf(asked ?? localStorage.getItem(PERSON));
}

function App(): JSX.Element {
  const [me, setMe] = useState(whoIsHere);
  const [team, setTeam] = useState<Team>();
  const [failure, setFailure] = useState<unknown>();
  useEffect(() => {
    if (me === undefined) return;
    localStorage.setItem(PERSON, me.id);
    openTeam(me).then(setTeam, setFailure);
  }, [me]);
  if (me === undefined) return <SignIn choose={setMe} />;
  if (failure !== undefined) return <Failure error={failure} />;
  if (team === undefined) return <Opening />;
  return (
    <TeamContext.Provider value={team}>
      <DirectoryProvider>
        <Shell />
      </DirectoryProvider>
    </TeamContext.Provider>
  );
}

function Opening(): JSX.Element {
  return (
    <main class="opening" aria-busy="true">
      <Mark size={44} />
      <p class="aside">Opening</p>
    </main>
  );
}

function Failure({ error }: { error: unknown }): JSX.Element {
  return (
    <main class="opening">
      <Mark size={44} />
      <h1>The board could not be opened</h1>
      <p>{error instanceof Error ? error.message : String(error)}</p>
      <button
        type="button"
        class="button button-main"
        onClick={() => location.reload()}
      >
        Try again
      </button>
    </main>
  );
}

applyTheme();
followServiceWorker();
render(<App />, document.getElementById("app")!);
