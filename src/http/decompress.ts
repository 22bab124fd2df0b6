import {brotliDecompressSync, unzipSync} from 'node:zlib';
import type {AfterResponseHook} from 'got';
import {maxResponseBytes} from './connection/watch.js';
import {wrongAnswer} from './errors/failure.js';

const decoders = new Map([
  ['gzip', unzipSync],
  ['x-gzip', unzipSync],
  ['deflate', unzipSync],
  ['br', brotliDecompressSync],
]);

/** Decompresses what a proxy may have compressed unasked. got's own decompression would not limit the size. */
export const decompress: AfterResponseHook = (response) => {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() || 'identity';
  if (response.rawBody.length === 0 || encoding === 'identity') return response;
  const decode = decoders.get(encoding);
  if (decode === undefined) throw wrongAnswer(response, 'has an unknown content encoding');
  try {
    response.rawBody = decode(response.rawBody, {maxOutputLength: maxResponseBytes});
  } catch (error) {
    const isLong = error instanceof RangeError;
    throw wrongAnswer(response, isLong ? `is longer than ${maxResponseBytes} bytes` : `is not valid ${encoding}`);
  }
  response.body = response.rawBody.toString();
  return response;
};
