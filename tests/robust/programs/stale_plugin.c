/* SPDX-License-Identifier: MIT */
/* Code that is loaded and unloaded: call instructions, one after the other. */
void plugin_code(void);
__asm__(".text\n.globl plugin_code\nplugin_code:\n.rept 2000\ncall plugin_code\n.endr\nret\n");
