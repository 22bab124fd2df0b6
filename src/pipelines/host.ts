import type {Suggestion} from '../errors/suggestion.js';
import type {RuntimeEvent} from '../operations/events.js';
import type {Host} from '../operations/host.js';
import type {ReleaseOptions} from '../operations/options.js';
import type {Ledger} from './ledger.js';

export type Callbacks = Pick<ReleaseOptions, 'onProgress' | 'onEvent' | 'onFallback' | 'onResolve'>;

/** An event without the keys that every event has. */
export type EventBody = RuntimeEvent extends infer Event
  ? Event extends RuntimeEvent
    ? Omit<Event, 'version' | 'sequence' | 'time'>
    : never
  : never;

export interface StepTerminal {
  /** Whether the terminal can be redrawn. Otherwise plain lines are written with `info`. */
  readonly redraws: boolean;
  /** A text in a color or an intensity, if it has such. */
  paint(style: 'dim' | 'green' | 'red' | 'yellow', text: string): string;
  /** Whether `stream` can show more than ASCII. */
  readonly unicode: boolean;
  readonly stream: NodeJS.WritableStream;
  info(line: string): void;
  /** Removes control characters and masks secrets. */
  clean(text: string): string;
  /** Redirects warnings, which otherwise have lines of their own. `label` may have colors. undefined ends it. */
  showWarnings(show: ((label: string, text: string) => void) | undefined): void;
  /** Breaks a line at the width of `stream`. `indent`: what the other lines begin with. */
  wrap(line: string, indent: string): readonly string[];
}

export interface PipelineHost extends Host {
  /** Where to show the steps. @default nowhere */
  readonly terminal?: StepTerminal | undefined;
  /** Lines with the source of each setting, shown below the step that chooses the backend. @default none */
  readonly settings?: readonly string[] | undefined;
  /** Whether a run before this one has shown the backend and the settings. @default false */
  readonly continues?: boolean | undefined;
  readonly onEvent?: ((event: EventBody) => void) | undefined;
  /** What a warning advises, with commands that reach what the run does. @default for programs */
  readonly spell?: ((advice: Suggestion) => string) | undefined;
  /** Called with what is known of each run, as it begins, and with what adds that to an error. */
  readonly onLedger?: ((ledger: Ledger, explain: (error: unknown) => unknown) => void) | undefined;
}
