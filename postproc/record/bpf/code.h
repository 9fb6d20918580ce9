/* SPDX-License-Identifier: MIT */
/*
 * BPF instructions, put together by hand: the few kinds that record/bpf/programs.c needs.
 *
 * Jumps go forward alone: pp_bpf_jump() returns where it stands, pp_bpf_land() lets it go to the
 * instruction that comes next.
 */
#ifndef PP_RECORD_BPF_CODE_H
#define PP_RECORD_BPF_CODE_H

#include <stdint.h>

#include <glib.h>
#include <linux/bpf.h>

#define PP_BPF_MAX_CODE 192

struct pp_bpf_code {
	struct bpf_insn insns[PP_BPF_MAX_CODE];
	unsigned n;
};

static inline void pp_bpf_put(struct pp_bpf_code *code, uint8_t op, uint8_t dst, uint8_t src,
			      int16_t off, int32_t imm)
{
	g_assert(code->n < PP_BPF_MAX_CODE);
	code->insns[code->n++] =
	    (struct bpf_insn){.code = op, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm};
}

/* dst OP= src, dst OP= imm; 64 bits, and 32 that leave the upper half 0.  OP is BPF_ADD, ... */
static inline void pp_bpf_op(struct pp_bpf_code *code, uint8_t op, uint8_t dst, uint8_t src)
{
	pp_bpf_put(code, BPF_ALU64 | BPF_X | op, dst, src, 0, 0);
}

static inline void pp_bpf_op_imm(struct pp_bpf_code *code, uint8_t op, uint8_t dst, int32_t imm)
{
	pp_bpf_put(code, BPF_ALU64 | BPF_K | op, dst, 0, 0, imm);
}

static inline void pp_bpf_op32_imm(struct pp_bpf_code *code, uint8_t op, uint8_t dst, int32_t imm)
{
	pp_bpf_put(code, BPF_ALU | BPF_K | op, dst, 0, 0, imm);
}

/* dst = *(src + off), *(dst + off) = src; `width` is BPF_B, BPF_H, BPF_W or BPF_DW. */
static inline void pp_bpf_load(struct pp_bpf_code *code, uint8_t width, uint8_t dst, uint8_t src,
			       int16_t off)
{
	pp_bpf_put(code, BPF_LDX | BPF_MEM | width, dst, src, off, 0);
}

static inline void pp_bpf_store(struct pp_bpf_code *code, uint8_t width, uint8_t dst, int16_t off,
				uint8_t src)
{
	pp_bpf_put(code, BPF_STX | BPF_MEM | width, dst, src, off, 0);
}

static inline void pp_bpf_store_imm(struct pp_bpf_code *code, uint8_t width, uint8_t dst,
				    int16_t off, int32_t imm)
{
	pp_bpf_put(code, BPF_ST | BPF_MEM | width, dst, 0, off, imm);
}

/* *(dst + off) OP= src at once, 64 bits. */
static inline void pp_bpf_atomic(struct pp_bpf_code *code, uint8_t op, uint8_t dst, int16_t off,
				 uint8_t src)
{
	pp_bpf_put(code, BPF_STX | BPF_ATOMIC | BPF_DW, dst, src, off, op);
}

/* dst = a 64-bit constant; `what`, a BPF_PSEUDO_, says what the kernel puts in its place. */
static inline void pp_bpf_constant(struct pp_bpf_code *code, uint8_t dst, uint8_t what, int32_t low,
				   int32_t high)
{
	pp_bpf_put(code, BPF_LD | BPF_IMM | BPF_DW, dst, what, 0, low);
	pp_bpf_put(code, 0, 0, 0, 0, high);
}

static inline void pp_bpf_call(struct pp_bpf_code *code, int32_t helper)
{
	pp_bpf_put(code, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

static inline void pp_bpf_return(struct pp_bpf_code *code)
{
	pp_bpf_op_imm(code, BPF_MOV, BPF_REG_0, 0);
	pp_bpf_put(code, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static inline unsigned pp_bpf_jump(struct pp_bpf_code *code, uint8_t op, uint8_t dst, uint8_t src)
{
	pp_bpf_put(code, BPF_JMP | BPF_X | op, dst, src, 0, 0);
	return code->n - 1;
}

static inline unsigned pp_bpf_jump_imm(struct pp_bpf_code *code, uint8_t op, uint8_t dst,
				       int32_t imm)
{
	pp_bpf_put(code, BPF_JMP | BPF_K | op, dst, 0, 0, imm);
	return code->n - 1;
}

static inline void pp_bpf_land(struct pp_bpf_code *code, unsigned jump)
{
	code->insns[jump].off = (int16_t)(code->n - jump - 1);
}

#endif
