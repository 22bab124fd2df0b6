import {createHmac} from 'node:crypto';
import {readFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import * as v from 'valibot';
import {archives, openApi, OpenApiDocument} from '../../wire/local.js';
import {pathOf} from '../../wire/operation.js';
import {secretsEqual} from '../access.js';
import {failureAnswer, HttpFailure} from '../answer.js';
import {requestedBundle, type Call, type Protocol, type RuntimeContext} from '../runtime-context.js';
import {sendFile} from '../send-file.js';
import type {BundleRecord} from '../store/store.js';
import {routesOf} from './serve.js';

export const openApiProtocol: Protocol = {
  prefix: '/openapi.json/',
  admit: () => 'reader',
  failure: failureAnswer,
  routes: routesOf(openApi.operations, {
    async getOpenApi({origin}) {
      // scripts/openapi-document.ts makes it, from the operations of src/wire.
      const root = dirname(createRequire(import.meta.url).resolve('mycli/package.json'));
      const text = await readFile(join(root, 'dist', 'openapi.json'), 'utf8');
      const document = v.parse(OpenApiDocument, JSON.parse(text));
      return {...document, servers: [{url: origin, description: 'This local runtime.'}]};
    },
  }),
};

const validMilliseconds = 3600 * 1000;

export const archiveProtocol: Protocol = {
  prefix: '/api/archives/',
  admit: checkSignature,
  failure: failureAnswer,
  routes: routesOf(archives.operations, {
    async downloadArchive(call) {
      const {store} = call.context;
      const bundle = requestedBundle(call);
      return sendFile(store.archivePath(bundle.id), call, {
        etag: bundle.sha256,
        modified: new Date(bundle.createdAt),
        headers: {'content-type': 'application/octet-stream'},
      });
    },
  }),
};

export function presignedUrl(
  {projectSlug, id}: BundleRecord,
  {context, origin}: Pick<Call, 'context' | 'origin'>,
): string {
  const path = pathOf(archives.operations.downloadArchive, {projectSlug, bundleId: String(id)});
  const expires = String(context.now().getTime() + validMilliseconds);
  const signature = signatureOf(path, expires, context);
  return `${origin}${path}?${new URLSearchParams({expires, signature}).toString()}`;
}

function signatureOf(path: string, expires: string, {credentials}: RuntimeContext): string {
  return createHmac('sha256', credentials.clientSecret).update(`${path} ${expires}`).digest('base64url');
}

function checkSignature({path, query, context}: Call): string {
  const [expires, signature] = [query.get('expires') ?? '', query.get('signature') ?? ''];
  if (!secretsEqual(signature, signatureOf(path, expires, context))) {
    throw new HttpFailure(403, 'The signature of the URL is invalid.');
  }
  if (Number(expires) < context.now().getTime()) throw new HttpFailure(403, 'The URL has expired.');
  return 'presigned';
}
