/**
 * Live queries for components.
 *
 * @module
 */

import type { Query } from "@sheaf/sheaf/browser";
import { useQuery } from "@sheaf/sheaf/preact";

const nothing: readonly never[] = Object.freeze([]);

/** The rows of a query, kept up to date; asked anew when `deps` change. What fails is shown by the page. */
export function useRows<Row extends { readonly id: string }>(
  make: () => Query<Row>,
  deps: readonly unknown[],
): readonly Row[] {
  const { data, status, error } = useQuery(make, deps);
  if (status === "error") throw error;
  return data ?? nothing;
}
