/**
 * The accidents of a run: when they happen, to whom, and how they end.
 *
 * @module
 */

import type { Actor } from "./actor.ts";
import type { Client } from "./client.ts";
import type { Dice } from "./dice.ts";
import { Mangler } from "./mangler.ts";
import type { Link } from "./network.ts";
import { type Accident, accidents } from "./plan.ts";
import type { Cast } from "./simulation.ts";

/** See the file's header. */
export class Weather {
  readonly #cast: Cast;
  readonly #dice: Dice;

  constructor(cast: Cast, dice: Dice) {
    this.#cast = cast;
    this.#dice = dice;
  }

  /** Starts everybody, and lets accidents happen. */
  begin(): void {
    const { clients, server, stage } = this.#cast;
    const { plan, timeline } = stage;
    server.start();
    for (const [index, client] of clients.entries()) {
      const isLate = index >= plan.clients - plan.late;
      const waitMs = isLate
        ? this.#dice.between(1_000, plan.workMs)
        : this.#dice.between(0, 2_000);
      timeline.after(waitMs, () => client.start());
    }
    for (const kind of plan.accidents) this.#plan(kind);
    for (const villain of this.#cast.villains) villain.begin();
  }

  #plan(kind: Accident): void {
    const { stage } = this.#cast;
    stage.timeline.after(this.#dice.wait(accidents[kind]), () => {
      if (stage.phase !== "work") return;
      this[kind]();
      this.#plan(kind);
    });
  }

  /** Ends every accident and starts whoever is down. */
  heal(): void {
    const { stage, clients, server } = this.#cast;
    stage.trace.note("sim", "heal");
    for (const link of stage.network.links.values()) {
      this.#calm(link);
      stage.network.changed(link);
    }
    server.lookForRot();
    // A page hears that its files failed with what comes next, and nothing may come any more.
    for (const client of clients) {
      if (client.isBrowser && client.isDiskBlamed) client.crash(false);
    }
    for (const actor of [server, ...clients]) {
      actor.disk.storage.isFull = false;
      actor.clock.offsetMs = Math.max(
        -CALM_SKEW_MS,
        Math.min(CALM_SKEW_MS, actor.clock.offsetMs),
      );
      actor.start();
    }
    // A network that spoilt a greeting has made a client give up until somebody asks it to go on.
    for (const client of clients) client.retryNow();
  }

  #calm(link: Link): void {
    link.isCut = false;
    // What was exchanged is kept for the next frame: it never comes.
    if (link.mangler !== undefined) {
      this.#cast.stage.network.breakLink(link, {
        client: "told",
        server: "told",
      });
    }
    link.mangler = undefined;
    Object.assign(link.up, CALM);
    Object.assign(link.down, CALM);
  }

  #client(): Client {
    return this.#dice.pick(this.#cast.clients);
  }

  /** Does something to a link, and undoes it after a while. */
  #trouble(
    kind: Accident,
    meanMs: number,
    begin: (link: Link) => void,
    end: (link: Link) => void,
  ): void {
    const { stage } = this.#cast;
    const links = this.#dice.chance(0.2)
      ? this.#cast.clients
      : [this.#client()];
    for (const { link, name } of links) {
      stage.trace.note(name, kind);
      begin(link);
      stage.network.changed(link);
    }
    stage.timeline.after(this.#dice.wait(meanMs), () => {
      for (const { link, name } of links) {
        stage.trace.note(name, `${kind}-over`);
        end(link);
        stage.network.changed(link);
      }
      if (this.#dice.chance(0.5)) {
        for (const client of links) client.networkReturned();
      }
    });
  }

  /** A connection breaks. */
  break(): void {
    const dice = this.#dice.number();
    this.#cast.stage.network.breakLink(this.#client().link, {
      client: dice < 0.8 ? "told" : "untold",
      server: dice > 0.2 ? "told" : "untold",
    });
  }

  stallUp(): void {
    this.#trouble(
      "stallUp",
      15_000,
      ({ up }) => void (up.isStalled = true),
      ({ up }) => void (up.isStalled = false),
    );
  }

  stallDown(): void {
    this.#trouble(
      "stallDown",
      15_000,
      ({ down }) => void (down.isStalled = true),
      ({ down }) => void (down.isStalled = false),
    );
  }

  cut(): void {
    this.#trouble(
      "cut",
      20_000,
      (link) => void (link.isCut = true),
      (link) => void (link.isCut = false),
    );
  }

  slow(): void {
    const bytesPerMs = this.#dice.pick([0.2, 2, 20]);
    const delayMs = this.#dice.between(50, 3_000);
    this.#trouble("slow", 15_000, ({ up, down }) => {
      Object.assign(up, { bytesPerMs, delayMs });
      Object.assign(down, { bytesPerMs, delayMs });
    }, ({ up, down }) => {
      Object.assign(up, CALM, { isStalled: up.isStalled });
      Object.assign(down, CALM, { isStalled: down.isStalled });
    });
  }

  #restart(actor: Actor): void {
    actor.stop(() => actor.restartLater(this.#dice.wait(3_000)));
  }

  #crash(actor: Actor): void {
    if (actor.state === "down") return;
    actor.crash(this.#dice.chance(0.7));
    actor.restartLater(this.#dice.wait(3_000));
  }

  restartClient(): void {
    this.#restart(this.#client());
  }

  crashClient(): void {
    this.#crash(this.#client());
  }

  restartServer(): void {
    this.#restart(this.#cast.server);
  }

  crashServer(): void {
    this.#crash(this.#cast.server);
  }

  wipeServer(): void {
    this.#cast.server.wipe();
    this.#cast.server.restartLater(this.#dice.wait(3_000));
  }

  restoreServer(): void {
    this.#replaceServer("restore");
  }

  secondServer(): void {
    this.#replaceServer("fail-over");
  }

  #replaceServer(how: "restore" | "fail-over"): void {
    const { server } = this.#cast;
    if (server.copy === undefined) return server.backup();
    const restart = () => {
      server.replaceDisk(how);
      server.restartLater(this.#dice.wait(3_000));
    };
    if (this.#dice.chance(0.5)) return server.stop(restart);
    server.crash(this.#dice.chance(0.7));
    restart();
  }

  checkpoint(): void {
    const { server, clients } = this.#cast;
    this.#dice.pick<Actor>([server, ...clients]).checkpoint();
  }

  faultClient(): void {
    const client = this.#client();
    if (client.state !== "down") client.spoilDisk();
  }

  faultServer(): void {
    if (this.#cast.server.state !== "down") this.#cast.server.spoilDisk();
  }

  readFault(): void {
    const { server, clients } = this.#cast;
    const actor: Actor = this.#dice.pick<Actor>([server, ...clients]);
    if (actor.state !== "up") return;
    actor.crash(false);
    actor.spoilReads();
    actor.restartLater(this.#dice.wait(3_000));
  }

  rotServer(): void {
    const { server, stage } = this.#cast;
    const restart = () => {
      // Once all is healed nothing rots any more, as nobody would look for it.
      if (stage.phase === "work") server.rot();
      server.restartLater(this.#dice.wait(3_000));
    };
    if (this.#dice.chance(0.5)) return server.stop(restart);
    server.crash(this.#dice.chance(0.7));
    restart();
  }

  copyClient(): void {
    const { stage, clients } = this.#cast;
    const original = this.#client();
    const copy = clients.find(({ lives }) => lives === 0);
    if (copy === undefined || original.lives === 0) return;
    // What has no certificate yet would never get one, and stay unsent with whoever has the copy.
    if (original.isRevoked) return;
    // Nor does anybody take back what is refused of another author (law 11).
    if (original.isNaughty || original.wasAhead) return;
    original.isCopied = true;
    copy.disk.copyOf(original.disk);
    stage.blames.add(`copy ${copy.name}`);
    stage.trace.note(copy.name, "copy-of", original.name);
  }

  #fill(actor: Actor): void {
    actor.stage.trace.note(actor.name, "disk-full");
    const { storage } = actor.disk;
    storage.isFull = true;
    actor.isDiskBlamed = true;
    actor.stage.timeline.after(
      this.#dice.wait(5_000),
      () => void (storage.isFull = false),
    );
  }

  fullClient(): void {
    this.#fill(this.#client());
  }

  fullServer(): void {
    this.#fill(this.#cast.server);
  }

  clock(): void {
    const { stage, clients, server } = this.#cast;
    const actor: Actor = this.#dice.pick([...clients, server]);
    const isWild = actor !== server && this.#dice.chance(0.3);
    const most = isWild ? 600_000 : 20_000;
    const offsetMs = this.#dice.between(-most, most);
    actor.clock.offsetMs = offsetMs;
    actor.wasAhead ||= offsetMs > 20_000;
    stage.blames.add(`clock ${actor.name}`);
    stage.trace.note(actor.name, "clock", `${actor.clock.offsetMs}`);
  }

  hostile(): void {
    const { stage } = this.#cast;
    const share = this.#dice.pick([0.02, 0.1, 0.3]);
    const taint = (link: Link) =>
      this.#cast.clients.find((client) => client.link === link)?.taint();
    this.#trouble("hostile", 10_000, (link) => {
      taint(link);
      link.mangler = new Mangler(
        this.#dice.fork(),
        share,
        (what) => stage.trace.note(link.client, `mangle-${what}`),
      );
    }, (link) => {
      link.mangler = undefined;
      taint(link);
      // A frame that is missing on a connection is missed for ever.
      stage.network.breakLink(link, { client: "told", server: "told" });
    });
  }

  intruder(): void {
    this.#cast.intruder.visit();
  }

  page(): void {
    const browsers = this.#cast.clients.filter(({ isBrowser }) => isBrowser);
    if (browsers.length > 0) this.#dice.pick(browsers).happen();
  }

  /**
   * While repositories are open, or while all of them are closed; most of the
   * users stay, and some of them die when they have just heard of it.
   */
  revoke(): void {
    const { server, clients, stage } = this.#cast;
    const revoked = clients.filter(({ isRevoked }) => isRevoked).length;
    if (revoked >= clients.length / 4) return;
    const client = this.#client();
    // As with a copy of somebody who is revoked.
    if (client.isCopied) return;
    if (this.#dice.chance(0.5)) server.revoke(client);
    else {
      server.stop(() => {
        server.revoke(client);
        server.restartLater(this.#dice.wait(3_000));
      });
    }
    const dies = clients.filter(() => this.#dice.chance(0.3));
    stage.timeline.after(this.#dice.wait(10_000), () => {
      if (stage.phase !== "work") return;
      for (const one of dies) this.#crash(one);
    });
  }
}

/** How wrong a clock may stay. */
const CALM_SKEW_MS = 5_000;
const CALM = { isStalled: false, delayMs: 20, jitterMs: 5, bytesPerMs: 1_000 };
