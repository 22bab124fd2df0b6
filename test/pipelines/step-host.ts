import type {RunHost} from '../../src/operations/host.js';
import type {Step} from '../../src/pipelines/run.js';
import type {EventBody, PipelineHost, StepTerminal} from '../../src/pipelines/host.js';

/** A host that keeps its events, and has no folder for anything. */
export function stepHost(terminal: Partial<StepTerminal>) {
  const events: EventBody[] = [];
  const host: PipelineHost = {
    ...{cwd: '/', env: {}, userAgent: 'mycli/0.0.0-test'},
    terminal: {
      ...{redraws: false, unicode: true, paint: (_: string, text: string) => text, stream: process.stderr},
      ...{
        info: () => undefined,
        clean: (text: string) => text,
        wrap: (line: string) => [line],
        showWarnings: () => undefined,
      },
      ...terminal,
    },
    logger: {debug: () => undefined, info: () => undefined, warn: () => undefined},
    now: () => new Date(0),
    onEvent: (event) => events.push(event),
    createTemporaryDirectory: () => Promise.reject(new Error('no folder')),
  };
  return {events, host};
}

/** A step that makes no fact known. */
export function step(name: string, title: string, act: (host: RunHost) => Promise<unknown>): Step {
  return {
    name,
    title,
    async run(_, host) {
      await act(host);
      return {};
    },
  };
}
