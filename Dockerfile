# Node and the libraries it is linked with, the production dependencies, and the compiled service. No shell, no npm.
FROM node:24.22.3-trixie-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build && scripts/stage-image /image

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
