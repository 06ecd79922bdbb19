/**
 * What the site's search looks at, the same where the index is made and where
 * it is asked.
 *
 * @module
 */

import type { Options } from "minisearch";

/** A part of a page. */
export interface Found {
  readonly id: number;
  /** Address in the site, with the part's id. */
  readonly path: string;
  /** Title of the page. */
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

export const searchOptions: Options<Found> = {
  fields: ["heading", "page", "text"],
  storeFields: ["path", "page", "heading"],
  searchOptions: {
    boost: { heading: 4, page: 2 },
    prefix: true,
    fuzzy: (word) => word.length > 4 ? 0.2 : false,
    combineWith: "AND",
  },
};
