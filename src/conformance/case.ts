import type {HostBackend} from '../backends/built-in.js';
import type {AnyBackend} from '../backends/contract.js';
import type {Subject} from './subject.js';

/** Opens another service, for `backend` or a new one. It is closed at the end of the case. */
export type Open = (backend?: AnyBackend) => Promise<Subject>;

/** What a case proves, and how. */
export interface Case {
  /** What a backend that passes does, as a sentence. */
  readonly proves: string;
  /** The members without which there is no such case, besides that of its table. @default none */
  readonly needs?: readonly (keyof HostBackend)[] | undefined;
  /** Rejects when the backend breaks the contract. */
  run(subject: Subject, open: Open): Promise<void>;
}

/** Cases by name. */
export type Cases = Readonly<Record<string, Case>>;

/** Cases by the member that they are about, without which there are none. */
export type CaseTable = Readonly<Partial<Record<keyof HostBackend, Cases>>>;
