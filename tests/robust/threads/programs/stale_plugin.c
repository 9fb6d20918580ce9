/* SPDX-License-Identifier: MIT */
/* A library that is loaded and unloaded; its code is a sequence of call instructions. */
void plugin_code(void);
__asm__(".text\n.globl plugin_code\nplugin_code:\n.rept 2000\ncall plugin_code\n.endr\nret\n");
