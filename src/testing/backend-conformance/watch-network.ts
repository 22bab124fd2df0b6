import {AsyncLocalStorage, createHook} from 'node:async_hooks';

/** What Node makes when a program looks up a name, connects, or sends: of TCP, pipes, UDP, DNS and HTTP. */
const networkResources: ReadonlySet<string> = new Set([
  'GETADDRINFOREQWRAP',
  'QUERYWRAP',
  'TCPCONNECTWRAP',
  'PIPECONNECTWRAP',
  'UDPSENDWRAP',
  'HTTPCLIENTREQUEST',
]);

/** The watch that a call belongs to. One for all: Node never lets go of a storage, and asks each about every promise. */
const watches = new AsyncLocalStorage<object>();

/** Calls `call` and tells whether it, or anything that it set off, reached for the network. */
export async function watchNetwork<Result>(
  call: () => Promise<Result>,
): Promise<{readonly result: Result; readonly reached: boolean}> {
  const watch = {};
  let reached = false;
  const hook = createHook({
    init(_, type) {
      if (networkResources.has(type) && watches.getStore() === watch) reached = true;
    },
  }).enable();
  try {
    return {result: await watches.run(watch, call), reached};
  } finally {
    hook.disable();
  }
}
