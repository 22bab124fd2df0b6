import * as v from 'valibot';
import {get, type Half} from './operation.js';
import {onlyLocal, say, text} from './schema.js';

const file = {content: {'application/octet-stream': {schema: {type: 'string', format: 'binary'}}}};

export const OpenApiDocument = v.pipe(
  v.looseObject({openapi: text('Version of the format.')}),
  say('An OpenAPI document.', {additionalProperties: true}),
);

/** Presigned URLs: they allow downloading the archive for an hour, without credentials. */
export const archives = {
  kind: 'Legacy',
  security: [],
  operations: {
    downloadArchive: get('/api/archives/:projectSlug/:bundleId{\\d+}', 'archive', 'Download an archive', {
      description:
        'Where the presigned URLs of the local runtime lead. Those of another server may lead anywhere. They need no ranges, but with them and a strong `ETag`, clients resume an interrupted download.',
      marks: onlyLocal,
      responses: {
        '200': {description: 'The archive.', ...file},
        '206': {description: 'The requested part of the archive.', ...file},
        '304': {description: 'The archive is the one that the client has.'},
        '416': {description: 'The archive ends before the requested part.'},
      },
    }),
  },
} as const satisfies Half;

/** The description of the protocols, which needs no credentials. */
export const openApi = {
  kind: 'Legacy',
  security: [],
  operations: {
    getOpenApi: get('/openapi.json', 'openapi', 'This document', {
      description: 'The server in it is the one that was asked.',
      marks: onlyLocal,
      answer: OpenApiDocument,
    }),
  },
} as const satisfies Half;
