/** Counters: all increments add up. */

import { limits } from "../base/limits.ts";
import { mayCount } from "./count.ts";
import { explicitParts, type RichKind } from "./rich_kind.ts";
import { parseCount, refuseValue, runChecks } from "./validate.ts";
import { malformed } from "./value_codec.ts";

export class CounterState {
  readonly merge = "counter";
  readonly isShownLater = false;
  /** Exact at any size, so that order cannot matter. */
  readonly total: bigint;

  constructor(total: bigint) {
    this.total = total;
  }

  show(): number {
    return Number(this.total);
  }

  /** Is it shown rounded? */
  get isOver(): boolean {
    return !Number.isSafeInteger(this.show());
  }
}

const empty = /* @__PURE__ */ new CounterState(0n);

function plus({ total }: CounterState, amount: unknown): CounterState {
  const added = typeof amount === "number" ? BigInt(amount) : 0n;
  return new CounterState(total + added);
}

export const counter: RichKind<CounterState> = {
  empty,
  begin: (value) => plus(empty, value),
  create: (state, value) => plus(state, value),
  change(state, change) {
    return change.what === "increment" ? plus(state, change.amount) : state;
  },
  write: (w, { total }) => w.text(total.toString()),
  read(r) {
    const text = r.text();
    return /^-?[0-9]{1,64}$/.test(text)
      ? new CounterState(BigInt(text))
      : malformed("a counter is no whole number");
  },
  prepare(field, { total }, given) {
    const parts = explicitParts(field, given, ["increment"]);
    const amount = parseCount(
      field,
      parts === undefined
        ? Number(BigInt(parseCount(field, given)) - total)
        : parts.increment,
    );
    const sum = total + BigInt(amount);
    if (!mayCount(total, sum)) {
      const expected = `at most ${limits.countMax}`;
      refuseValue(field, expected, Number(sum), "value-too-large");
    }
    // Its bounds are a constraint: asked at the end of the transaction.
    runChecks(field, Number(sum));
    return amount === 0 ? [] : [{ what: "increment", amount }];
  },
};
