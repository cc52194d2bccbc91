# The image of `npm run image`, for those who have a container engine. It is made of the same parts in the same places:
# Node and the libraries it is linked with, what the service loads of node_modules, and the compiled service. No shell, no npm.
FROM node:24.22.3-trixie-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY test/support test/support
COPY migrations migrations
COPY clients/typescript/src clients/typescript/src
COPY console console
COPY src src
RUN npm run image -- --modules /image/app && cp -r package.json dist /image/app
RUN mkdir -p /image/tmp /image/etc && cp --parents /usr/local/bin/node /image \
 && for file in $(ldd /usr/local/bin/node /image/app/node_modules/@libsql/*/*.node | grep -oE '/[^ ]+\.so[^ ]*' | sort -u); \
    do cp --parents --dereference "$file" /image; done \
 && printf 'root:x:0:0:root:/:/nologin\nsvc:x:65532:65532:svc-platform:/app:/nologin\n' > /image/etc/passwd \
 && printf 'root:x:0:\nsvc:x:65532:\n' > /image/etc/group \
 && printf 'hosts: files dns\n' > /image/etc/nsswitch.conf

FROM scratch
COPY --from=build /image /
USER 65532:65532
WORKDIR /app
ENV PATH=/usr/local/bin
ENV NODE_ENV=production
EXPOSE 3000/tcp
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=3 CMD ["/usr/local/bin/node", "-e", "fetch(`http://127.0.0.1:${process.env.METRICS_PORT || process.env.PORT || 3000}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/usr/local/bin/node", "--enable-source-maps", "--max-semi-space-size=64"]
CMD ["dist/src/main.js"]
