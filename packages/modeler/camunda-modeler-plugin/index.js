module.exports = { name: 'svc-platform', script: './client.js' };
