import {Readable} from 'node:stream';
import {visible} from '../../html/html.js';
import {deploymentState} from '../store/deployments.js';
import type {DeploymentRecord} from '../store/records.js';

/** What can change while a page is open. */
export const topics = ['bundles', 'deployments', 'requests', 'faults'] as const;

/** See `topics`. */
export type Topic = (typeof topics)[number];

type Listener = (topic: Topic, sentence?: string) => void;

/** How often the progress of deployments is checked. */
const tickMilliseconds = 250;
/** How long changes are collected before a page is told. It then loads itself again: too much for every request. */
const pauseMilliseconds = 200;
/** How often an idle stream shows that it is alive. */
const heartbeatMilliseconds = 15_000;
/** How many sentences a page is told at once. */
const maxSentences = 3;

/** Tells open pages what has changed. */
export class LiveFeed {
  readonly #now: () => Date;
  readonly #listeners = new Set<Listener>();
  readonly #watched = new Map<DeploymentRecord, string>();
  #ticking: NodeJS.Timeout | undefined;

  constructor(now: () => Date) {
    this.#now = now;
  }

  /** @param sentence for users of screen readers, who do not see the change. */
  publish(topic: Topic, sentence?: string): void {
    for (const listener of this.#listeners) listener(topic, sentence);
  }

  /** Publishes each change of a deployment's state until it has ended. */
  watch(deployment: DeploymentRecord): void {
    this.#watched.set(deployment, '');
    this.#ticking ??= setInterval(() => {
      this.#tick();
    }, tickMilliseconds).unref();
    this.#tick();
  }

  #tick(): void {
    for (const [deployment, shown] of this.#watched) {
      const {status, percentage = 0, duration} = deploymentState(deployment, this.#now());
      const state = `${status} ${String(percentage)}`;
      if (duration !== undefined) this.#watched.delete(deployment);
      else this.#watched.set(deployment, state);
      const {bundleId, projectSlug, targetSlug} = deployment;
      const what = `bundle ${String(bundleId)} to ${targetSlug} of ${projectSlug}`;
      const sentence = {
        queued: `Deploying ${what}.`,
        in_progress: undefined,
        finished: `Deployed ${what}.`,
        failed: `Failed to deploy ${what}.`,
      }[status];
      if (state !== shown) this.publish('deployments', status === 'queued' && shown !== '' ? undefined : sentence);
    }
    if (this.#watched.size > 0) return;
    clearInterval(this.#ticking);
    this.#ticking = undefined;
  }

  /** The changes of some topics as server-sent events. It holds one event at most, however slow its reader. */
  stream(wanted: ReadonlySet<Topic>): Readable {
    const changed = new Set<Topic>();
    let sentences: string[] = [];
    let pause: NodeJS.Timeout | undefined;
    const listener: Listener = (topic, sentence) => {
      if (!wanted.has(topic)) return;
      changed.add(topic);
      if (sentence !== undefined) sentences = [...sentences, visible(sentence)].slice(-maxSentences);
      pause ??= setTimeout(send, pauseMilliseconds);
    };
    const send = (): void => {
      if (stream.readableLength > 0) {
        pause = setTimeout(send, pauseMilliseconds);
        return;
      }
      pause = undefined;
      stream.push(`event: change\ndata: ${JSON.stringify({topics: [...changed], sentences})}\n\n`);
      changed.clear();
      sentences = [];
    };
    const heartbeat = setInterval(() => {
      if (stream.readableLength === 0) stream.push(':\n\n');
    }, heartbeatMilliseconds);
    const stream = new Readable({
      read: () => undefined,
      destroy: (error, done) => {
        this.#listeners.delete(listener);
        clearTimeout(pause);
        clearInterval(heartbeat);
        done(error);
      },
    });
    this.#listeners.add(listener);
    stream.push('retry: 1000\n\n');
    return stream;
  }

  close(): void {
    clearInterval(this.#ticking);
    this.#watched.clear();
  }
}
