import {brotliDecompressSync, gunzipSync, inflateSync, type ZlibOptions} from 'node:zlib';
import type {AfterResponseHook} from 'got';
import {createError} from '../errors/index.js';
import {describeRequest} from './connection/call.js';
import {maxResponseBytes} from './connection/watch.js';

type Decompress = (bytes: Uint8Array, options: ZlibOptions) => Buffer;

const decoders: Readonly<Record<string, Decompress>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/**
 * Decompresses answers that are read into memory. Nobody asks for compression, but what is between us and a service may
 * compress anyway. got's own decompression would not limit their size.
 */
export const decompress: AfterResponseHook = (response) => {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? '';
  if (response.rawBody.length === 0 || encoding === '' || encoding === 'identity') return response;
  const {method, path} = describeRequest(response.request.options);
  const status = response.statusCode;
  const invalid = (problem: string, cause?: unknown) =>
    createError('ERR_RESPONSE_INVALID', `The response to ${method} ${path} ${problem}.`, {
      status,
      method,
      path,
      cause,
    });
  const decode = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined;
  if (decode === undefined) throw invalid('has an unknown content encoding');
  try {
    response.rawBody = decode(response.rawBody, {maxOutputLength: maxResponseBytes});
  } catch (error) {
    throw invalid(
      error instanceof RangeError ? `is longer than ${maxResponseBytes} bytes` : `is not valid ${encoding}`,
      error,
    );
  }
  response.body = response.rawBody.toString();
  return response;
};
