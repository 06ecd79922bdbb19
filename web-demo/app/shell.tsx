/**
 * What is around a board: the bar at the top, panels, and what is told.
 *
 * @module
 */

import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { BoardNow } from "../board/board_view.tsx";
import { CardPanel } from "../card/card_panel.tsx";
import { useRows } from "../data/live.ts";
import type { BoardItem } from "../data/schema.ts";
import { useTeam } from "../data/team_context.ts";
import { BoardHead } from "../board/board_head.tsx";
import { KeysPanel, useKeys } from "../panels/keys.tsx";
import { PastBoard } from "../panels/past_board.tsx";
import { useStore } from "../state/store.ts";
import { showBoard, ui } from "../state/ui.ts";
import { usePresenceOfMine } from "../state/presence.ts";
import { Header } from "./header.tsx";
import { Notes } from "./notes.tsx";

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
        {board === undefined
          ? <NoBoard boards={boards} />
          : <Board board={board} />}
      </main>
      {board !== undefined && <OpenCard board={board} />}
      {panel === "keys" && <KeysPanel />}
      <Notes />
    </div>
  );
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
