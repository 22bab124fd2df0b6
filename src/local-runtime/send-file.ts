import send from 'send';
import {alreadySent, HttpFailure} from './answer.js';
import type {Call} from './runtime-context.js';

interface FileToSend {
  readonly status?: number | undefined;
  /** Changes when the content does; without quotes. */
  readonly etag: string;
  readonly modified: Date;
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends a regular file, the requested range of it, 304 or 416. @throws HttpFailure 404 if it is not there. */
export async function sendFile(
  file: string,
  {context, request, response}: Call,
  {status, etag, modified, headers}: FileToSend,
): Promise<Response> {
  const all = {...headers, etag: `"${etag}"`, 'last-modified': modified.toUTCString()};
  for (const [name, value] of Object.entries(all)) response.setHeader(name, value);
  if (status !== undefined) response.statusCode = status;
  response.setTimeout(context.stallSeconds * 1000);
  await new Promise<void>((resolve, reject) => {
    response.once('close', resolve);
    const encoded = file.split('/').map(encodeURIComponent).join('/');
    // What depends on the file system says nothing about a bundle, which changes with its deployment.
    send(request, encoded, {dotfiles: 'allow', index: false, etag: false, lastModified: false, cacheControl: false})
      .on('error', (error: Error & {readonly status?: number; readonly headers?: Record<string, string>}) => {
        if (error.status === 416) {
          response.writeHead(416, {...error.headers, 'content-length': 0}).end();
          return;
        }
        for (const name of Object.keys(all)) response.removeHeader(name);
        reject(error.status === 404 ? new HttpFailure(404, 'The file is gone.') : error);
      })
      .pipe(response);
  });
  return alreadySent;
}
