/**
 * A process that plays seeds of the simulation.
 *
 * @module
 */

import { playFromInput } from "../seeds/player.ts";
import { play } from "./play.ts";
import { rememberVerdicts } from "./verdicts.ts";

rememberVerdicts();
await playFromInput((seed) => play(seed));
