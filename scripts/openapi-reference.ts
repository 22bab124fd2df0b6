// Writes docs/reference/openapi.json, which the local runtime serves too, from src/wire.
// `npm run docs:generate` runs it.
import {writeFileSync} from 'node:fs';
import {openApiDocument} from './openapi-document.js';

const file = new URL('../docs/reference/openapi.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(openApiDocument(), undefined, 2)}\n`);
