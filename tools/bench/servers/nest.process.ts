import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { Controller, Get, Module, Param } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';

/** Baseline of one Nest route that returns a constant (variable BODIES: path parameter -> JSON text). */
const bodies = JSON.parse(process.env['BODIES'] ?? '{}') as Record<string, string>;
const constants = new Map(Object.entries(bodies).map(([name, text]) => [name, JSON.parse(text) as object]));

@Controller()
class ConstantController {
  @Get(':name')
  read(@Param('name') name: string): object | undefined {
    return constants.get(name);
  }
}

@Module({ controllers: [ConstantController] })
class ConstantModule {}

const app = await NestFactory.create(ConstantModule, { logger: false });
await app.listen(0, '127.0.0.1');
process.send?.(app.getHttpServer().address() as AddressInfo);
