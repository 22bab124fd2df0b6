import type {Agent} from 'node:http';
import {Socket} from 'node:net';
import type {Duplex} from 'node:stream';

/** How long an answer is waited for when the server no longer takes the body. */
const lingerMs = 1500;

/**
 * A server that refuses an upload may answer and close while the body is still being sent. Node then reports the broken
 * pipe and throws the answer away. Sockets of this agent stop writing and go on reading for a while instead.
 * @param agent - One that nobody else uses: it is changed.
 */
export function withEarlyAnswers<T extends Agent>(agent: T): T {
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (...args) => readAfterBrokenPipe(create(...args));
  return agent;
}

/** Makes a socket go on reading after a broken pipe. */
export function readAfterBrokenPipe<T extends Duplex | null | undefined>(socket: T): T {
  if (!(socket instanceof Socket)) return socket;
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  socket._write = (chunk, encoding, callback) => write(chunk, encoding, unlessBroken(socket, callback));
  if (writev !== undefined) socket._writev = (chunks, callback) => writev(chunks, unlessBroken(socket, callback));
  return socket;
}

/**
 * A write that ends in a broken pipe stays pending: nothing more is written, and no error outruns the answer. So does
 * one that ends with the socket: its other events tell, and a second error in the middle of a retry would end the call.
 */
function unlessBroken(socket: Socket, callback: (error?: Error | null) => void) {
  return (error?: NodeJS.ErrnoException | null) => {
    if (error && socket.destroyed) return;
    if (error?.code !== 'EPIPE' && error?.code !== 'ECONNRESET') {
      callback(error);
      return;
    }
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    socket.once('close', () => clearTimeout(timer));
  };
}
