/**
 * The board of the demo's main work, written by hand, so that it reads like one.
 *
 * @module
 */

import type { BoardPlan } from "./plan.ts";

/** Ferry tickets for the winter. */
export const winter: BoardPlan = {
  id: "winter",
  name: "Winter timetable",
  purpose:
    "Everything that must be true before the first winter boat leaves on 1 December",
  columns: [
    { name: "Ideas" },
    { name: "Next" },
    { name: "Doing", limit: 6 },
    { name: "Review", limit: 4 },
    { name: "Done", isDone: true },
  ],
  cards: [
    {
      title: "Show how full the 07:10 usually is",
      column: 0,
      by: "aiko",
      labels: ["app", "data"],
      note: "Nine of twelve commuters asked for this without being asked.\n\n" +
        "Not a number: three words. Quiet, busy, standing.",
      talk: [
        [
          "tomasz",
          "We have counts for the last two winters. Good enough for three words.",
        ],
        ["sam", "Please not for the school boat. Parents will ring me."],
      ],
    },
    {
      title: "A widget for the lock screen: next boat home",
      column: 0,
      by: "jonas",
      labels: ["app"],
    },
    {
      title: "Tell people when the waiting room is heated",
      column: 0,
      by: "maya",
      labels: ["words"],
      talk: [["ines", "I love this. One line under the harbour’s name?"]],
    },
    {
      title: "Let a driver swap a booked car for a longer one",
      column: 0,
      by: "maya",
      labels: ["app", "pay"],
    },
    {
      title: "Timetable as a calendar people can subscribe to",
      column: 0,
      by: "tomasz",
      labels: ["data"],
    },
    {
      title: "Quiet colours after sunset on deck tablets",
      column: 0,
      by: "ines",
      labels: ["kiosk", "access"],
    },
    {
      title: "Cancelled boats must be struck through, not greyed out",
      column: 1,
      by: "priya",
      labels: ["app", "access"],
      people: ["ines"],
      due: 2,
      note:
        "Grey on blue has a contrast of 2.1. Nobody at Vik could read it in the sun.",
    },
    {
      title: "Import the holiday exceptions for Christmas week",
      column: 1,
      by: "tomasz",
      labels: ["data"],
      people: ["tomasz"],
      due: 4,
      note:
        "The county sends them as a PDF again. Pages 3 and 4 differ: the harbour office says page 4 is right.",
      talk: [["sam", "Page 4. I drew it myself."]],
    },
    {
      title: "Ask before sending a ticket to a number abroad",
      column: 1,
      by: "jonas",
      labels: ["app", "pay"],
      people: ["jonas"],
      due: 9,
    },
    {
      title: "Rewrite the three sentences about dogs",
      column: 1,
      by: "ines",
      labels: ["words"],
      people: ["aiko"],
      due: 6,
    },
    {
      title: "Screen readers read 07:10 as a ratio",
      column: 1,
      by: "priya",
      labels: ["bug", "access"],
      people: ["jonas"],
      due: -1,
      note: "“Seven to ten”. Use <time> and give it a label.",
    },
    {
      title: "Refund flow: say when the money arrives",
      column: 1,
      by: "maya",
      labels: ["pay", "words"],
      people: ["ines", "maya"],
      due: 12,
    },
    {
      title: "Load test with the first Friday of December",
      column: 1,
      by: "priya",
      people: ["priya", "tomasz"],
      due: 8,
    },
    {
      title: "Tickets must open in the tunnel",
      column: 2,
      by: "maya",
      labels: ["app"],
      people: ["jonas", "priya"],
      due: 1,
      note:
        "The queue at Sundet stands in the tunnel, and there is no signal in the tunnel.\n\n" +
        "- the ticket is on the phone from the moment it is bought\n" +
        "- the code is shown without asking anybody\n" +
        "- what the gate scanned is handed in when the gate is back\n\n" +
        "Tried with flight mode on 14 phones. Two old ones still blink.",
      talk: [
        [
          "jonas",
          "Cold start without a wire: 0.9 s on the oldest phone that we have.",
        ],
        ["maya", "That is quicker than the paper one. Let us tell people."],
        ["priya", "The two that blink: both had battery saver on. Looking."],
      ],
    },
    {
      title: "Winter timetable goes wrong on the night clocks change",
      column: 2,
      by: "tomasz",
      labels: ["data", "bug"],
      people: ["tomasz"],
      due: 0,
      note:
        "The 02:30 exists twice. We show the first, the boat leaves at the second.",
      talk: [[
        "priya",
        "Added the last ten years as test cases. Four of them fail.",
      ]],
    },
    {
      title: "Larger targets on the stern-door tablet: gloves",
      column: 2,
      by: "ines",
      labels: ["kiosk", "access"],
      people: ["ines"],
      due: 3,
    },
    {
      title: "Interviews with night-shift nurses",
      column: 2,
      by: "aiko",
      people: ["aiko"],
      due: 5,
      note: "Six booked, two to find. They buy at 05:40 with cold hands.",
    },
    {
      title: "One tap for the same ticket as yesterday",
      column: 2,
      by: "aiko",
      labels: ["app", "pay"],
      people: ["jonas", "ines"],
      due: 7,
    },
    {
      title: "Price table in Northern Sami",
      column: 3,
      by: "aiko",
      labels: ["words", "access"],
      people: ["aiko"],
      due: 2,
      talk: [[
        "aiko",
        "Read aloud by two speakers yesterday. One word to settle: “concession”.",
      ]],
    },
    {
      title: "Stop rounding walking times down",
      column: 3,
      by: "maya",
      labels: ["app"],
      people: ["tomasz"],
      due: 0,
      note: "Four minutes to the pier is six with a pram.",
    },
    {
      title: "Kiosk restarts into the board, not the desktop",
      column: 3,
      by: "priya",
      labels: ["kiosk", "bug"],
      people: ["jonas"],
    },
    {
      title: "Say which deck the lift reaches",
      column: 4,
      by: "maya",
      labels: ["access", "words"],
      people: ["ines"],
    },
    {
      title: "Draft the winter routes",
      column: 4,
      by: "maya",
      labels: ["data"],
      people: ["tomasz"],
    },
    {
      title: "Card terminals accept the new county card",
      column: 4,
      by: "jonas",
      labels: ["pay", "kiosk"],
      people: ["jonas"],
    },
    {
      title: "Night colours for the departure board",
      column: 4,
      by: "ines",
      labels: ["kiosk"],
      people: ["ines"],
    },
    {
      title: "Departures in the wrong order when one is late",
      column: 4,
      by: "priya",
      labels: ["bug"],
      people: ["tomasz"],
    },
    {
      title: "Agree with the harbours who posts delays",
      column: 4,
      by: "maya",
      people: ["maya", "sam"],
      talk: [["sam", "We do. Ten minutes after we know, not before."]],
    },
  ],
};
