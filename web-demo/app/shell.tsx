/**
 * What is around a board: the bar at the top, panels, and what is told.
 *
 * @module
 */

import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { BoardNow } from "../board/board_view.tsx";
import { CardPanel } from "../card/card_panel.tsx";
import { useRows } from "../data/live.ts";
import type { BoardItem } from "../data/schema.ts";
import type { Team } from "../data/open.ts";
import { useTeam } from "../data/team_context.ts";
import { BoardHead } from "../board/board_head.tsx";
import { KeysPanel, useKeys } from "../panels/keys.tsx";
import { Palette } from "../panels/palette.tsx";
import { PastBoard } from "../panels/past_board.tsx";
import { useStore } from "../state/store.ts";
import { showBoard, ui } from "../state/ui.ts";
import { usePresenceOfMine } from "../state/presence.ts";
import { Header } from "./header.tsx";
import { Notes } from "./notes.tsx";

/** After so long a new device shows what has come. */
const ARRIVE_MS_MAX = 4_000;

/** The whole page once somebody is in. */
export function Shell(): JSX.Element {
  const team = useTeam();
  const boards = useRows(() => team.boards.orderBy("position"), [team]);
  const shown = useStore(ui, (value) => value.board);
  const board = shown === undefined
    ? boards[0]
    : boards.find(({ id }) => id === shown);
  const moment = useStore(ui, (value) => value.moment);
  const panel = useStore(ui, (value) => value.panel);
  const isHere = useArrived(team);
  useKeys();
  usePresenceOfMine(board?.id);
  useEffect(() => {
    if (board !== undefined && shown === undefined) showBoard(board.id);
  }, [board?.id, shown]);
  useEffect(() => {
    document.title = board === undefined ? "Stook" : `${board.name} · Stook`;
  }, [board?.name]);
  return (
    <div class={`shell${moment === undefined ? "" : " is-past"}`}>
      <a class="skip" href="#board">Skip to the board</a>
      <Header boards={boards} board={board} />
      <main id="board" class="main" tabIndex={-1}>
        {board === undefined || !isHere
          ? <NoBoard boards={isHere ? boards : []} />
          : <Board board={board} />}
      </main>
      {board !== undefined && <OpenCard board={board} />}
      {panel === "keys" && <KeysPanel />}
      <Palette />
      <Notes />
    </div>
  );
}

/** A new device shows a board once it has all of it, so that no card moves; but waits for nobody for long. */
function useArrived({ repo, isNew }: Team): boolean {
  const [isHere, setHere] = useState(!isNew);
  useEffect(() => {
    const arrive = () => setHere(true);
    repo.sync.ready.then(arrive, arrive);
    const timer = setTimeout(arrive, ARRIVE_MS_MAX);
    return () => clearTimeout(timer);
  }, [repo]);
  return isHere;
}

function Board({ board }: { board: BoardItem }): JSX.Element {
  const moment = useStore(ui, (value) => value.moment);
  return (
    <>
      <BoardHead board={board} />
      {moment === undefined
        ? <BoardNow board={board} />
        : <PastBoard board={board} moment={moment} />}
    </>
  );
}

function OpenCard({ board }: { board: BoardItem }): JSX.Element | null {
  const team = useTeam();
  const id = useStore(ui, (value) => value.card);
  const rows = useRows(
    () => team.cards.where({ board: board.id }),
    [team, board.id],
  );
  const card = useMemo(() => rows.find((row) => row.id === id), [rows, id]);
  if (id === undefined) return null;
  return <CardPanel key={id} id={id} card={card} />;
}

function NoBoard(
  { boards }: { boards: readonly BoardItem[] },
): JSX.Element {
  if (boards.length > 0) {
    return (
      <div class="no-board">
        <h1>This board is not here</h1>
        <p>It may be on its way, or gone. The others are above.</p>
      </div>
    );
  }
  return (
    <div class="no-board">
      <h1>Fetching the boards</h1>
      <p>
        This device has none yet. They come as soon as the server is reached,
        and stay here from then on.
      </p>
    </div>
  );
}
