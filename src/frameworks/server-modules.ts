import {builtinModules} from 'node:module';

/** Packages that never run in a browser: servers, what these are made of, databases, queues, mail. `@x/` is a scope. */
const serverPackages = `
  bun deno express fastify koa hapi @hapi/hapi restify polka sirv elysia micro connect nitropack @nestjs/ @fastify/ @koa/ @elysiajs/
  @adonisjs/ @feathersjs/express @feathersjs/koa @strapi/strapi @hono/node-server @trpc/server @apollo/server apollo-server
  apollo-server-express mercurius @react-router/node @react-router/express @react-router/serve @remix-run/node
  @remix-run/express body-parser compression cookie-parser cors express-session helmet morgan multer passport serve-static
  socket.io ws http-proxy http-proxy-middleware dotenv nodemon pm2 electron
  pg postgres mysql mysql2 mariadb mssql tedious oracledb sqlite3 better-sqlite3 mongodb mongoose redis ioredis memcached
  cassandra-driver neo4j-driver @prisma/client @neondatabase/serverless @planetscale/database @vercel/postgres @libsql/client
  @elastic/elasticsearch drizzle-orm knex objection sequelize typeorm @mikro-orm/ amqplib bull bullmq kafkajs
  nodemailer mailgun.js @sendgrid/mail twilio stripe firebase-admin @google-cloud/ googleapis argon2 bcrypt jsonwebtoken
  ldapjs ssh2 winston bunyan log4js node-cron sharp puppeteer puppeteer-core playwright playwright-core
`
  .trim()
  .split(/\s+/);

/** Whether a module is one of Node or of another runtime, or of a package that never runs in a browser. */
export function isServerModule(specifier: string): boolean {
  if (/^(?:node|bun|npm|jsr|cloudflare):/.test(specifier) || builtinModules.includes(specifier)) return true;
  return serverPackages.some((name) =>
    name.endsWith('/') ? specifier.startsWith(name) : specifier === name || specifier.startsWith(`${name}/`),
  );
}
