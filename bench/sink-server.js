// A server that reads every request to its end, keeps nothing, and answers as both backends do: each upload is bundle
// 1, which is still there when it is asked for. Prints its origin.
import {createServer} from 'node:http';

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, {'content-type': 'application/json'});
    const bundles = '{"count": 1, "results": [{"id": 1, "message": "", "status": 1, "deletion_status": "ACTIVE"}]}';
    response.end(request.method === 'GET' ? bundles : '{"id": 1, "bundle_id": 1}');
  });
});
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}`);
});
process.once('SIGTERM', () => process.exit());
