/**
 * What the demo's team is working on: an app and kiosks for ferry tickets on a
 * fjord.
 *
 * @module
 */

import type { Hue } from "../data/schema.ts";
import type { BoardPlan } from "./plan.ts";
import { winter } from "./winter.ts";

/** Labels by id. */
export const labels: Readonly<Record<string, readonly [string, Hue]>> = {
  app: ["App", "cornflower"],
  kiosk: ["Kiosk", "plum"],
  data: ["Timetable", "lagoon"],
  bug: ["Bug", "poppy"],
  access: ["Access", "clover"],
  pay: ["Payment", "wheat"],
  words: ["Words", "slate"],
};

const kiosk: BoardPlan = {
  id: "kiosk",
  name: "Harbour kiosks",
  purpose: "Nine piers, one screen each, salt water everywhere",
  columns: [
    { name: "To look at" },
    { name: "On the bench", limit: 3 },
    { name: "At a pier" },
    { name: "Running", isDone: true },
  ],
  cards: [
    {
      title: "Vik: glass is hard to read at noon",
      column: 0,
      by: "maya",
      labels: ["kiosk", "access"],
      due: 6,
      note: "South-facing. Try the matt film from the stern-door tablets.",
    },
    {
      title: "Sundet: somebody keeps unplugging it for the waffle iron",
      column: 0,
      by: "maya",
      talk: [["maya", "Can we give the waffle iron a socket of its own?"], [
        "sam",
        "It was there first.",
      ]],
    },
    {
      title: "Order two spare boards before Christmas",
      column: 0,
      by: "jonas",
      people: ["jonas"],
      due: 10,
    },
    {
      title: "Gulls set off the motion sensor",
      column: 0,
      by: "priya",
      labels: ["bug"],
    },
    {
      title: "Askøy: new power supply, burn-in for 48 h",
      column: 1,
      by: "jonas",
      labels: ["kiosk"],
      people: ["jonas"],
      due: 1,
    },
    {
      title: "Printer without a fan",
      column: 1,
      by: "priya",
      labels: ["kiosk"],
      people: ["priya"],
      due: 4,
    },
    {
      title: "Read the ticket price aloud",
      column: 1,
      by: "aiko",
      labels: ["access"],
      people: ["ines"],
      due: 11,
    },
    {
      title: "Nes: mount lower, a wheelchair user cannot reach Pay",
      column: 2,
      by: "aiko",
      labels: ["access"],
      people: ["sam", "ines"],
      due: -2,
      note:
        "88 cm to the middle of the button. The bolt holes are already drilled at 104.",
    },
    {
      title: "Holm: screen through the first frost",
      column: 2,
      by: "maya",
      people: ["sam"],
      due: 14,
    },
    {
      title: "Kirkenes quay: measure the signal at low tide",
      column: 2,
      by: "tomasz",
      labels: ["data"],
      people: ["tomasz"],
      due: 3,
    },
    {
      title: "Rosendal",
      column: 3,
      by: "jonas",
      labels: ["kiosk"],
      people: ["jonas"],
    },
    {
      title: "Bru, both sides",
      column: 3,
      by: "jonas",
      labels: ["kiosk"],
      people: ["jonas"],
    },
    {
      title: "Leira, with the new film",
      column: 3,
      by: "ines",
      labels: ["kiosk"],
      people: ["ines"],
    },
  ],
};

const studio: BoardPlan = {
  id: "studio",
  name: "Words & pictures",
  purpose: "What people read before they board",
  columns: [{ name: "Asked for" }, { name: "In hand" }, {
    name: "Out",
    isDone: true,
  }],
  cards: [
    {
      title: "Poster for the waiting rooms: winter boats",
      column: 0,
      by: "maya",
      labels: ["words"],
      due: 7,
    },
    {
      title: "Photographs without summer in them",
      column: 0,
      by: "ines",
      due: 13,
    },
    {
      title: "One page about prams, dogs and skis",
      column: 0,
      by: "maya",
      labels: ["words"],
    },
    {
      title: "Delay messages that say what to do",
      column: 1,
      by: "aiko",
      labels: ["words"],
      people: ["aiko", "ines"],
      due: 2,
      note:
        "Not “due to operational reasons”.\n\nWhat happened, which boat instead, where it is warm.",
    },
    {
      title: "Icon for the lift that is not an elevator in an office",
      column: 1,
      by: "ines",
      labels: ["access"],
      people: ["ines"],
      due: 5,
    },
    {
      title: "Names of all piers, checked by those who live there",
      column: 2,
      by: "tomasz",
      labels: ["words", "data"],
      people: ["tomasz"],
    },
    {
      title: "A tone of voice on one sheet of paper",
      column: 2,
      by: "aiko",
      people: ["aiko"],
    },
  ],
};

/** All boards. */
export const boards: readonly BoardPlan[] = [winter, kiosk, studio];
