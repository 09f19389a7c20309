// An object store that speaks S3 and checks access keys (the key and its secret are both
// S3RVER), but no signatures of version 4. It keeps what it is given in the directory of
// its argument, with the bucket "logs". The first line it prints is its URL; it ends when
// its input is closed, so that it never outlives the test.
import S3rver from 's3rver'

const server = new S3rver({ address: '127.0.0.1', port: 0, silent: true, directory: process.argv[2], configureBuckets: [{ name: 'logs' }] })
const { address, port } = await server.run()
console.log(`http://${address}:${port}`)
process.stdin.resume().on('end', () => process.exit(0))
