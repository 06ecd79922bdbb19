/**
 * How a board is planned: as it stands when the story ends.
 *
 * @module
 */

/** A card as it stands at the end of the story. */
export interface CardPlan {
  readonly title: string;
  /** Place of its column among the board's. */
  readonly column: number;
  readonly by: string;
  readonly labels?: readonly string[];
  readonly people?: readonly string[];
  /** Days from today. */
  readonly due?: number;
  readonly note?: string;
  readonly talk?: readonly (readonly [person: string, text: string])[];
}

/** A board as it stands at the end of the story. */
export interface BoardPlan {
  readonly id: string;
  readonly name: string;
  readonly purpose: string;
  readonly columns: readonly {
    readonly name: string;
    readonly limit?: number;
    readonly isDone?: boolean;
  }[];
  readonly cards: readonly CardPlan[];
}
