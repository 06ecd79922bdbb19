/**
 * What a team keeps in its repository: boards, columns, cards, and what goes
 * with them.
 *
 * @module
 */

import { defineSchema, type Infer } from "@sheaf/sheaf/browser";
import { field } from "@sheaf/sheaf/text";

/** How much somebody may do. */
export const roles = ["lead", "member", "guest"] as const;

/** One of {@linkcode roles}. */
export type Role = typeof roles[number];

/** Colours that labels and people may have; the style sheet knows them by name. */
export const hues = [
  "pine",
  "cornflower",
  "poppy",
  "wheat",
  "clover",
  "lagoon",
  "plum",
  "slate",
] as const;

/** One of {@linkcode hues}. */
export type Hue = typeof hues[number];

/** The same as plain colours, for cursors. */
export const hueColors: Readonly<Record<Hue, string>> = {
  pine: "#1d6b4f",
  cornflower: "#4059c9",
  poppy: "#b83a2c",
  wheat: "#8a6200",
  clover: "#a3407a",
  lagoon: "#1a6e80",
  plum: "#6b49ac",
  slate: "#566259",
};

const position = field.string().max(256);

/** Somebody of the team; the id is the user of the session. */
export const Person = defineSchema("person", {
  name: field.string().max(80),
  title: field.string().max(80).default(""),
  role: field.enum(roles).default("member"),
  hue: field.enum(hues).default("slate"),
});

/** A board. */
export const Board = defineSchema("board", {
  name: field.string().min(1).max(80),
  purpose: field.string().max(200).default(""),
  position,
});

/** A column of a board. */
export const Column = defineSchema("column", {
  board: field.ref("board"),
  name: field.string().min(1).max(40),
  position,
  /** How many cards it should hold at most; 0 is any number. */
  limit: field.number().int().min(0).default(0),
  isDone: field.boolean().default(false),
}, { indexes: [["board", "position"]] });

/** A label that cards may bear. */
export const Label = defineSchema("label", {
  name: field.string().min(1).max(40),
  hue: field.enum(hues).default("slate"),
});

/** A card. Days are text, `2026-11-24`: they are the same day everywhere. */
export const Card = defineSchema("card", {
  board: field.ref("board"),
  column: field.ref("column"),
  position,
  /** By character: what two people type in it at once is all there. */
  title: field.text(),
  note: field.text(),
  labels: field.set(field.ref("label")),
  assignees: field.set(field.ref("person")),
  due: field.string().max(10).optional(),
  by: field.ref("person"),
  at: field.number(),
}, { indexes: [["board"], ["column", "position"]] });

/** Something said about a card. */
export const Comment = defineSchema("comment", {
  card: field.ref("card"),
  by: field.ref("person"),
  at: field.number(),
  text: field.string().min(1).max(4000),
}, { indexes: [["card", "at"]] });

/** All of them. */
export const schemas = [Person, Board, Column, Label, Card, Comment];

/** Somebody of the team. */
export type PersonItem = Infer<typeof Person>;
/** A board. */
export type BoardItem = Infer<typeof Board>;
/** A column. */
export type ColumnItem = Infer<typeof Column>;
/** A label. */
export type LabelItem = Infer<typeof Label>;
/** A card. */
export type CardItem = Infer<typeof Card>;
/** Something said. */
export type CommentItem = Infer<typeof Comment>;
