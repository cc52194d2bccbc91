# One name per habit. `make check` is exactly what CI runs.
.PHONY: help install check test unit it coverage format lint arch openapi migrate databases dev prove conformance clean

help: ## this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

install: ## install what package-lock.json names
	npm ci

check: ## every gate of CI
	.ci/run

test: ## unit tests, then integration tests on each database
	npm test

unit: ## unit tests only
	npx vitest run --project unit

it: ## integration tests on one database, quickly: make it DB=mysql FILTER=systems
	TEST_DATABASE=$(or $(DB),embedded) npx vitest run --project integration $(FILTER)

coverage: ## line and function coverage on the embedded database
	npm run coverage

format: ## rewrite every file in the house style
	npm run format

lint: ## lint and types
	npm run lint && npm run typecheck

arch: ## import rules and rules on source text
	npm run arch

openapi: ## write openapi.json from the code
	npm run openapi

migrate: ## bring the database of DATABASE_URL to the current schema
	npm run build && npm run migration:run

databases: ## MariaDB and MySQL for use by hand, until Ctrl-C
	npx tsx scripts/databases.ts

dev: ## the service in evaluation mode on this machine
	npm run dev

prove: ## long proofs: crashes, races, rolling restarts
	npm run prove

conformance: ## our MCP client against the official conformance suite
	npm run conformance

clean: ## remove what was built
	rm -rf dist dist.next-* dist.before-* coverage
