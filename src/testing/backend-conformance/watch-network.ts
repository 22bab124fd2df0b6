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

/** Calls `call` and tells whether it, or anything that it set off, reached for the network. */
export async function watchNetwork<Result>(
  call: () => Promise<Result>,
): Promise<{readonly result: Result; readonly reached: boolean}> {
  const inside = new AsyncLocalStorage<true>();
  let reached = false;
  const hook = createHook({
    init(_, type) {
      if (networkResources.has(type) && inside.getStore()) reached = true;
    },
  }).enable();
  try {
    return {result: await inside.run(true, call), reached};
  } finally {
    hook.disable();
  }
}
