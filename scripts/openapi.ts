// Writes dist/openapi.json, which the local runtime serves, from src/wire. `npm run build` runs it.
import {writeFileSync} from 'node:fs';
import {openApiDocument} from './openapi-document.js';

writeFileSync('dist/openapi.json', `${JSON.stringify(openApiDocument(), undefined, 2)}\n`);
