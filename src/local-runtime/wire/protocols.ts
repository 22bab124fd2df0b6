import {readFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import * as v from 'valibot';
import {failureAnswer} from '../answer.js';
import {apiProtocol} from './api.js';
import {archiveProtocol} from './archive.js';
import {legacyProtocol} from './legacy.js';
import {operation, type WireProtocol} from './operation.js';
import {schemas} from './parameters.js';
import {onlyLocal} from './schemas.js';
import {tokenProtocol} from './token.js';

/** The description of the protocols, which needs no credentials. */
const openApiProtocol: WireProtocol = {
  prefix: '/openapi.json/',
  kind: 'Legacy',
  security: [],
  admit: () => 'reader',
  failure: failureAnswer,
  routes: [
    operation('GET', '/openapi.json', 'openapi', {
      id: 'getOpenApi',
      summary: 'This document',
      description: 'The server in it is the one that was asked.',
      marks: onlyLocal,
      answer: schemas.OpenApiDocument,
      async handle({origin}) {
        // scripts/openapi-document.ts makes it, from the operations of all protocols.
        const root = dirname(createRequire(import.meta.url).resolve('mycli/package.json'));
        const text = await readFile(join(root, 'docs', 'reference', 'openapi.json'), 'utf8');
        const document = v.parse(schemas.OpenApiDocument, JSON.parse(text));
        return {...document, servers: [{url: origin, description: 'This local runtime.'}]};
      },
    }),
  ],
};

export const wireProtocols: readonly WireProtocol[] = [
  tokenProtocol,
  archiveProtocol,
  legacyProtocol,
  apiProtocol,
  openApiProtocol,
];
