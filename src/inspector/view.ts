/**
 * What every view of the inspector is: a name, an element, and a moment at
 * which it looks again.
 *
 * @module
 */

/** One page of the inspector. */
export interface View {
  /** What its tab says. */
  readonly title: string;
  /** Where it draws. */
  readonly element: HTMLElement;
  /** Looks again and draws; runs a few times a second while it is shown. */
  draw(): void;
}
